package protocol

import (
	"encoding/binary"
	"math"
)

// Command writes the packets of one command into memory that is used again for the next. The zero value is ready for use.
//
// One of Quit, Query, Prepare and Execute begins it, for Execute the arguments follow, and Packets gives what is to be sent.
type Command struct {
	buf    []byte // the command's packet, with the header of its first part
	long   []byte // packets to be sent before it: arguments that travel by themselves
	limit  int
	params int // of a statement that is executed
	bound  int // how many of its arguments were given
	types  int // where their types stand in buf
	most   int // from this size on an argument travels by itself
}

// What it keeps for the next command at the most, bytes: one large statement must not hold memory for ever.
const mostKept = 1 << 20

func (c *Command) begin(command byte, limit int) {
	if cap(c.buf) > mostKept {
		c.buf = nil
	}
	if cap(c.long) > mostKept {
		c.long = nil
	}
	c.buf = append(c.buf[:0], 0, 0, 0, 0, command)
	c.long = c.long[:0]
	c.limit, c.params, c.bound = limit, 0, 0
}

// Quit begins the command that ends a connection. It has no answer.
func (c *Command) Quit() { c.begin(comQuit, math.MaxInt) }

// Query begins a statement that is sent as text. limit is the largest command, bytes: max_allowed_packet. The text is appended to what
// it gives, and the result of that handed to Text.
func (c *Command) Query(limit int) []byte {
	c.begin(comQuery, limit)
	return c.buf
}

// Text takes the memory back that Query gave.
func (c *Command) Text(buf []byte) { c.buf = buf }

// Prepare begins the preparing of a statement.
func (c *Command) Prepare(sql string, limit int) {
	c.begin(comStmtPrepare, limit)
	c.buf = append(c.buf, sql...)
}

// Types of arguments, as the protocol numbers them, and the flag of an unsigned one.
const (
	typeLongLong = 0x08
	typeString   = 0xfe
	unsigned     = 0x80
)

// Execute begins the execution of a prepared statement that has so many parameters. As many arguments have to follow.
func (c *Command) Execute(id uint32, params, limit int) {
	c.begin(comStmtExecute, limit)
	c.params = params
	c.most = max(limit/(params+1), 64)
	c.buf = binary.LittleEndian.AppendUint32(c.buf, id)
	c.buf = append(c.buf, 0, 1, 0, 0, 0) // no cursor; one iteration
	if params == 0 {
		return
	}
	for range (params + 7) / 8 {
		c.buf = append(c.buf, 0) // none is NULL
	}
	c.buf = append(c.buf, 1) // the types follow
	c.types = len(c.buf)
	for range params {
		c.buf = append(c.buf, 0, 0)
	}
}

// bind notes the type of the next argument; false: there is no parameter for it, which Packets reports.
func (c *Command) bind(kind, flag byte) bool {
	c.bound++
	if c.bound > c.params {
		return false
	}
	at := c.types + 2*(c.bound-1)
	c.buf[at], c.buf[at+1] = kind, flag
	return true
}

// Int gives a signed integer as the next argument.
func (c *Command) Int(v int64) {
	if c.bind(typeLongLong, 0) {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(v))
	}
}

// Uint gives an unsigned integer as the next argument.
func (c *Command) Uint(v uint64) {
	if c.bind(typeLongLong, unsigned) {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, v)
	}
}

// Bytes gives a string as the next argument; nil is an empty one. One that takes more than its share of the limit travels in packets
// of its own, before the command.
func (c *Command) Bytes(v []byte) {
	if !c.bind(typeString, 0) {
		return
	}
	if len(v) >= c.most {
		c.sendLong(v)
		return
	}
	c.buf = appendLength(c.buf, uint64(len(v)))
	c.buf = append(c.buf, v...)
}

// sendLong puts the argument bound last into packets of its own.
func (c *Command) sendLong(v []byte) {
	const head = 1 + 4 + 2 // command, statement, parameter
	id := c.buf[headerSize+1 : headerSize+5]
	for size := max(1, min(c.limit, MaxPayload)-1-head); len(v) > 0; {
		n := min(size, len(v))
		c.long = appendHeader(c.long, head+n, 0)
		c.long = append(c.long, comStmtSendLongData)
		c.long = append(c.long, id...)
		c.long = binary.LittleEndian.AppendUint16(c.long, uint16(c.bound-1))
		c.long = append(c.long, v[:n]...)
		v = v[n:]
	}
}

// ArgumentError is a statement with placeholders that was given another number of arguments.
type ArgumentError struct{ Got, Want int }

func (e *ArgumentError) Error() string {
	return "the statement has another number of placeholders than it was given arguments"
}

// Packets gives what is to be sent, and the sequence number with which the answer begins. It is valid until the next command begins.
func (c *Command) Packets() (packets []byte, sequence uint8, err error) {
	if c.bound != c.params {
		return nil, 0, &ArgumentError{Got: c.bound, Want: c.params}
	}
	size := len(c.buf) - headerSize
	if size > c.limit {
		return nil, 0, ErrTooLarge
	}
	if size < MaxPayload {
		putHeader(c.buf, size, 0)
		sequence = 1
	} else {
		sequence = c.split(size)
	}
	if len(c.long) == 0 {
		return c.buf, sequence, nil
	}
	c.long = append(c.long, c.buf...)
	return c.long, sequence, nil
}

// split makes packets of a payload that is too large for one, moving its parts apart to make room for their headers. It gives the
// sequence number after that of the last.
func (c *Command) split(size int) uint8 {
	more := size / MaxPayload // packets beside the first; the last has less than MaxPayload, maybe nothing
	for range more {
		c.buf = append(c.buf, 0, 0, 0, 0)
	}
	for i := more; i >= 0; i-- {
		from := headerSize + i*MaxPayload
		n := min(MaxPayload, size-i*MaxPayload)
		to := from + i*headerSize
		copy(c.buf[to:to+n], c.buf[from:from+n])
		putHeader(c.buf[to-headerSize:], n, uint8(i))
	}
	return uint8(more + 1)
}

func putHeader(b []byte, size int, sequence uint8) {
	b[0], b[1], b[2], b[3] = byte(size), byte(size>>8), byte(size>>16), sequence
}

func appendHeader(b []byte, size int, sequence uint8) []byte {
	return append(b, byte(size), byte(size>>8), byte(size>>16), sequence)
}

// appendLength appends a length-encoded integer.
func appendLength(b []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}
