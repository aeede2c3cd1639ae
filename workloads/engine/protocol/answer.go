package protocol

import (
	"encoding/binary"
	"fmt"
)

// Status is how far an answer has come.
type Status uint8

// The states of an answer.
const (
	More   Status = iota // bytes are missing
	Done                 // it is complete
	Refuse               // it goes on after the server was sent what Refusal gives
)

// Answer reads what a server answers to one command, in whatever pieces it comes. The zero value with its Capabilities set is ready
// for use, one answer after another.
type Answer struct {
	Capabilities Capabilities

	// The outcome, once Feed has said Done.
	Rows     int64  // of the first result that has columns
	Affected int64  // rows changed, by the last result
	ID       uint32 // of a statement that was prepared
	Params   int    // its placeholders

	expect    expect
	afterward expect // what comes when the descriptions of columns are over
	columns   int    // descriptions still to come
	results   int    // columns of a statement that was prepared
	counted   bool   // Rows were counted: those of further results are not
	failed    bool   // the outcome is the error packet in held
	local     string // the file that the server asked for
	sequence  uint8  // that the next packet must have

	// The packet under way.
	head      [headerSize]byte
	headLen   int
	left      int  // bytes of this part that are still to come
	full      bool // this part has the largest size, so another follows
	continued bool // this part is not the first
	begun     bool // its first byte was seen
	first     byte
	keep      bool // what it says matters
	held      []byte
}

// expect says what the next packet of an answer is.
type expect uint8

const (
	nothing  expect = iota
	aResult         // OK, an error, a request for a file, or the number of columns
	prepared        // the answer to Prepare, or an error
	aColumn         // the description of a column or a parameter
	anEOF           // what ends the descriptions
	aRow            // a row, the end of the rows, or an error
)

// mostHeld is how much of a packet is kept, bytes: error messages have 512 at the most.
const mostHeld = 1024

// mostColumns is how many columns a result can have: the limit of the servers is 4096.
const mostColumns = 1 << 16

// Begin makes ready for the answer to a command whose Packets gave that sequence number. prepare tells that the command is Prepare.
func (a *Answer) Begin(sequence uint8, prepare bool) {
	a.Rows, a.Affected, a.ID, a.Params = 0, 0, 0, 0
	a.expect = aResult
	if prepare {
		a.expect = prepared
	}
	a.columns, a.results, a.counted, a.failed, a.local = 0, 0, false, false, ""
	a.sequence = sequence
	a.headLen, a.left, a.full, a.continued = 0, 0, false, false
	a.held = a.held[:0]
}

// Err gives the *ServerError that the server answered with, or ErrLocalFile; nil: it executed the command.
func (a *Answer) Err() error {
	if a.local != "" {
		return fmt.Errorf("%w: %s", ErrLocalFile, a.local)
	}
	if !a.failed {
		return nil
	}
	e := &ServerError{Code: binary.LittleEndian.Uint16(a.held[1:])}
	message := a.held[3:]
	if len(message) >= 6 && message[0] == '#' {
		copy(e.State[:], message[1:])
		message = message[6:]
	}
	e.Message = string(message)
	return e
}

// Refusal gives the empty packet that stands for a file that is not sent.
func (a *Answer) Refusal() [headerSize]byte {
	packet := [headerSize]byte{3: a.sequence}
	a.sequence++
	return packet
}

// Feed takes bytes that the server has sent. used is how many of them belong to this answer: all, unless it is Done or to be Refused.
// After an error the connection is of no use.
func (a *Answer) Feed(data []byte) (used int, status Status, err error) {
	for rest := data; ; {
		if a.headLen < headerSize {
			n := copy(a.head[a.headLen:], rest)
			rest = rest[n:]
			if a.headLen += n; a.headLen < headerSize {
				return len(data), More, nil
			}
			if err := a.beginPart(); err != nil {
				return len(data) - len(rest), More, err
			}
		}
		part := rest[:min(a.left, len(rest))]
		rest = rest[len(part):]
		a.left -= len(part)
		packet, err := a.take(part)
		if err != nil {
			return len(data) - len(rest), More, err
		}
		if a.left > 0 {
			return len(data), More, nil
		}
		a.headLen = 0
		if a.continued = a.full; a.continued {
			continue
		}
		if status, err := a.packet(packet); status != More || err != nil {
			return len(data) - len(rest), status, err
		}
	}
}

// beginPart reads the header of a packet, or of a further part of one.
func (a *Answer) beginPart() error {
	a.left = int(a.head[0]) | int(a.head[1])<<8 | int(a.head[2])<<16
	a.full = a.left == MaxPayload
	if a.continued {
		return a.follow()
	}
	a.begun = false
	if a.left == 0 {
		return fmt.Errorf("%w: it is empty", ErrMalformed)
	}
	return nil
}

// follow sees that the part under way is the one that was to come.
func (a *Answer) follow() error {
	if a.head[3] != a.sequence {
		return fmt.Errorf("%w: number %d where %d was expected", ErrSequence, a.head[3], a.sequence)
	}
	a.sequence++
	return nil
}

// take keeps of a piece of a packet what matters, and gives what there is of it. A packet that comes in one piece is not copied.
func (a *Answer) take(part []byte) ([]byte, error) {
	if a.continued || len(part) == 0 {
		return a.held, nil
	}
	if !a.begun {
		a.begun, a.first = true, part[0]
		if a.first == packetERR && !a.full {
			a.sequence = a.head[3] // errors may have any number: a server that ends a connection does not wait for its turn
		}
		if err := a.follow(); err != nil {
			return nil, err
		}
		// A row may begin like the end of rows, but then it is a value of more than 16 MiB, and its first part a full one.
		marked := a.first == packetERR || a.first == packetEOF && !a.full
		a.keep = marked || a.expect != aRow && a.expect != aColumn
		if a.keep && a.left == 0 {
			return part, nil
		}
		a.held = a.held[:0]
	}
	if a.keep {
		a.held = append(a.held, part[:min(len(part), mostHeld-len(a.held))]...)
	}
	return a.held, nil
}

// packet goes on by a packet that is complete. p is empty where what it says does not matter.
func (a *Answer) packet(p []byte) (Status, error) {
	if a.first == packetERR && len(p) > 0 && a.expect != nothing {
		return a.errorPacket(p)
	}
	switch a.expect {
	case aRow:
		if len(p) > 0 {
			return a.endOfRows(p)
		}
		if !a.counted {
			a.Rows++
		}
		return More, nil
	case aColumn:
		if len(p) > 0 {
			return More, fmt.Errorf("%w: the end of rows where a column was expected", ErrMalformed)
		}
		return a.described(), nil
	case anEOF:
		if a.first != packetEOF || len(p) < 5 {
			return More, fmt.Errorf("%w: no end after the columns", ErrMalformed)
		}
		return a.endOfColumns(), nil
	case aResult:
		return a.result(p)
	case prepared:
		return a.prepared(p)
	}
	return More, fmt.Errorf("%w: no packet was expected", ErrMalformed)
}

// errorPacket ends the answer, wherever it was.
func (a *Answer) errorPacket(p []byte) (Status, error) {
	if len(p) < 3 {
		return More, fmt.Errorf("%w: an error without a number", ErrMalformed)
	}
	if p[1] == 0xff && p[2] == 0xff {
		return More, nil // MariaDB's report of progress
	}
	a.held = append(a.held[:0], p[:min(len(p), mostHeld)]...)
	a.failed, a.expect = true, nothing
	return Done, nil
}

// result begins a result.
func (a *Answer) result(p []byte) (Status, error) {
	a.Affected = 0
	switch a.first {
	case packetOK:
		return a.ok(p, true)
	case packetLocal:
		a.local = fmt.Sprintf("%.200q", p[1:])
		return Refuse, nil
	}
	count, n, ok := length(p)
	if !ok || count == 0 || count > mostColumns {
		return More, fmt.Errorf("%w: a result of %d columns", ErrMalformed, count)
	}
	a.columns, a.afterward = int(count), aRow
	a.expect = aColumn
	if a.Capabilities.CacheMetadata {
		if len(p) <= n {
			return More, fmt.Errorf("%w: not said whether columns follow", ErrMalformed)
		}
		if p[n] != 1 {
			a.columns = 1
			return a.described(), nil
		}
	}
	return More, nil
}

// prepared reads the answer to Prepare.
func (a *Answer) prepared(p []byte) (Status, error) {
	if a.first != packetOK || len(p) < 9 {
		return More, fmt.Errorf("%w: no answer to prepare", ErrMalformed)
	}
	a.ID = binary.LittleEndian.Uint32(p[1:])
	a.results = int(binary.LittleEndian.Uint16(p[5:]))
	a.Params = int(binary.LittleEndian.Uint16(p[7:]))
	a.columns, a.afterward = a.Params, nothing
	return a.nextColumns(), nil
}

// nextColumns goes on to the descriptions of a prepared statement that are left, if any.
func (a *Answer) nextColumns() Status {
	if a.columns == 0 {
		a.columns, a.results = a.results, 0
	}
	if a.columns == 0 {
		a.expect = nothing
		return Done
	}
	a.expect = aColumn
	return More
}

// described counts a description.
func (a *Answer) described() Status {
	if a.columns--; a.columns > 0 {
		return More
	}
	if !a.Capabilities.DeprecateEOF {
		a.expect = anEOF
		return More
	}
	return a.endOfColumns()
}

func (a *Answer) endOfColumns() Status {
	if a.afterward == aRow {
		a.expect = aRow
		return More
	}
	return a.nextColumns()
}

// endOfRows reads the packet that ends the rows of a result.
func (a *Answer) endOfRows(p []byte) (Status, error) {
	a.counted = true
	if a.Capabilities.DeprecateEOF {
		return a.ok(p, false)
	}
	if len(p) < 5 {
		return More, fmt.Errorf("%w: the end of rows is cut off", ErrMalformed)
	}
	return a.endOfResult(binary.LittleEndian.Uint16(p[3:])), nil
}

// ok reads an OK packet; counts tells that the rows changed matter.
func (a *Answer) ok(p []byte, counts bool) (Status, error) {
	affected, n, ok1 := length(p[1:])
	_, m, ok2 := length(p[1+n:])
	at := 1 + n + m
	if !ok1 || !ok2 || len(p) < at+2 {
		return More, fmt.Errorf("%w: an OK that is cut off", ErrMalformed)
	}
	if counts {
		a.Affected = int64(affected)
	}
	return a.endOfResult(binary.LittleEndian.Uint16(p[at:])), nil
}

func (a *Answer) endOfResult(status uint16) Status {
	if status&statusMoreResults != 0 {
		a.expect = aResult
		return More
	}
	a.expect = nothing
	return Done
}

// length reads a length-encoded integer, and gives its size.
func length(p []byte) (v uint64, size int, ok bool) {
	if len(p) == 0 {
		return 0, 0, false
	}
	switch p[0] {
	case 0xfb, 0xff:
		return 0, 0, false
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	default:
		return uint64(p[0]), 1, true
	}
	if len(p) < 1+size {
		return 0, 0, false
	}
	for i := size; i > 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v, 1 + size, true
}
