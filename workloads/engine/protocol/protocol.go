// Package protocol speaks the part of the MySQL and MariaDB client protocol that a load generator needs once a connection is logged in:
// it writes the packets of commands, and reads answers of which only the outcome matters. Rows are counted and skipped.
//
// It knows no socket: a command is bytes to be sent, and an answer is fed with bytes in whatever pieces they come. Neither allocates
// memory in the steady state, nor more than a fixed amount for an answer, whatever the server sends.
//
// The formats are those of https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html and
// https://mariadb.com/kb/en/clientserver-protocol/.
package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxPayload is the largest payload of one packet, bytes. What is larger is sent in several; one of exactly this size is followed by
// another, which may be empty.
const MaxPayload = 1<<24 - 1

const headerSize = 4 // of a packet: three bytes of length, one of sequence

// Commands.
const (
	comQuit             = 0x01
	comQuery            = 0x03
	comStmtPrepare      = 0x16
	comStmtExecute      = 0x17
	comStmtSendLongData = 0x18
)

// First bytes of a packet in an answer.
const (
	packetOK    = 0x00
	packetLocal = 0xfb // a request for a local file
	packetEOF   = 0xfe
	packetERR   = 0xff
)

const statusMoreResults = 0x0008

// Errors of an answer after which the connection is of no use.
var (
	// ErrMalformed is an answer that is not as the protocol has it.
	ErrMalformed = errors.New("malformed packet")
	// ErrSequence is a packet that does not follow the one before.
	ErrSequence = errors.New("packets out of order")
)

// ErrTooLarge is a command that is larger than the limit of a packet. Nothing of it was sent.
var ErrTooLarge = errors.New("packet for query is too large")

// ErrLocalFile is the outcome of a statement for which the server asked for a file of this machine.
var ErrLocalFile = errors.New("the server asked for a local file, which is refused")

// ServerError is an error packet.
type ServerError struct {
	Code    uint16
	State   [5]byte // the SQLSTATE; zero: the server sent none
	Message string  // cut off after some hundred bytes
}

func (e *ServerError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// Capabilities are what client and server agreed on when they connected, as far as it changes what is read here.
type Capabilities struct {
	DeprecateEOF  bool // result sets end by an OK packet, and nothing stands between columns and rows
	CacheMetadata bool // MariaDB leaves out the columns of a prepared statement that have not changed
	TLS           bool // the connection is encrypted
	Compress      bool // the packets are compressed
	Other         bool // something that changes commands or answers in a way that is not known here
}

// Bits of the capability flags, and of MariaDB's own.
const (
	clientMySQL         = 1 << 0 // not set: MariaDB's own flags follow
	clientCompress      = 1 << 5
	clientProtocol41    = 1 << 9
	clientSSL           = 1 << 11
	clientDeprecateEOF  = 1 << 24
	clientOther         = 1<<25 | 1<<26 | 1<<27 // columns on request, compression by zstd, attributes of queries
	mariaDBCacheMetdata = 1 << 4
)

// ReadCapabilities reads the capabilities from the first packet that a client sends: the response to the server's greeting, or the
// request for TLS. false: it is neither.
func ReadCapabilities(packet []byte) (Capabilities, bool) {
	if len(packet) < headerSize+32 {
		return Capabilities{}, false
	}
	flags := binary.LittleEndian.Uint32(packet[headerSize:])
	if flags&clientProtocol41 == 0 {
		return Capabilities{}, false
	}
	c := Capabilities{
		DeprecateEOF: flags&clientDeprecateEOF != 0,
		TLS:          flags&clientSSL != 0,
		Compress:     flags&clientCompress != 0,
		Other:        flags&clientOther != 0,
	}
	if flags&clientMySQL == 0 {
		c.CacheMetadata = binary.LittleEndian.Uint32(packet[headerSize+28:])&mariaDBCacheMetdata != 0
	}
	return c, true
}
