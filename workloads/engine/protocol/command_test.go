package protocol_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"benchplan/workloads/engine/protocol"
)

func TestCommandsAreAsTheProtocolHasThem(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(c *protocol.Command)
		want string
	}{
		{"quit", func(c *protocol.Command) { c.Quit() }, "01000000 01"},
		{"query", func(c *protocol.Command) { c.Text(append(c.Query(100), "DO 1"...)) }, "05000000 03 444f2031"},
		{"prepare", func(c *protocol.Command) { c.Prepare("DO ?", 100) }, "05000000 16 444f203f"},
		{"execute without arguments", func(c *protocol.Command) { c.Execute(7, 0, 100) }, "0a000000 17 07000000 00 01000000"},
		{"execute", func(c *protocol.Command) {
			c.Execute(7, 3, 1000)
			c.Int(-2)
			c.Uint(1 << 63)
			c.Bytes([]byte("abc"))
		}, "26000000 17 07000000 00 01000000 00 01 0800 0880 fe00 feffffffffffffff 0000000000000080 03616263"},
		{"execute with nine", func(c *protocol.Command) {
			c.Execute(1, 9, 10000)
			for range 9 {
				c.Bytes(nil)
			}
		}, "28000000 17 01000000 00 01000000 0000 01" + strings.Repeat("fe00", 9) + strings.Repeat("00", 9)},
		{"long argument", func(c *protocol.Command) {
			c.Execute(7, 1, 128) // its share is 64 bytes
			c.Bytes(bytes.Repeat([]byte("a"), 150))
		}, "7f000000 18 07000000 0000" + strings.Repeat("61", 120) + "25000000 18 07000000 0000" + strings.Repeat("61", 30) +
			"0e000000 17 07000000 00 01000000 00 01 fe00"},
	} {
		var c protocol.Command
		for range 2 { // the memory is used again
			tt.make(&c)
			got, sequence, err := c.Packets()
			if err != nil || sequence != 1 || hex.EncodeToString(got) != strings.ReplaceAll(tt.want, " ", "") {
				t.Errorf("%s:\n got %x, then %d, %v\nwant %s", tt.name, got, sequence, err, tt.want)
			}
		}
	}
}

func TestLargeCommandsAreSplit(t *testing.T) {
	for _, tt := range []struct {
		name     string
		payload  int
		packets  int
		sequence uint8
	}{
		{"just below", protocol.MaxPayload - 1, 1, 1},
		{"exactly one", protocol.MaxPayload, 2, 2},
		{"one and a byte", protocol.MaxPayload + 1, 2, 2},
		{"exactly two", 2 * protocol.MaxPayload, 3, 3},
		{"more", 2*protocol.MaxPayload + 5, 3, 3},
	} {
		var c protocol.Command
		text := make([]byte, tt.payload-1)
		for i := range text {
			text[i] = byte(i * 7)
		}
		c.Text(append(c.Query(1<<30), text...))
		all, sequence, err := c.Packets()
		if err != nil {
			t.Fatal(err)
		}
		var payload []byte
		n := 0
		for ; len(all) > 0; n++ {
			size := int(all[0]) | int(all[1])<<8 | int(all[2])<<16
			if all[3] != byte(n) {
				t.Errorf("%s: packet %d is numbered %d", tt.name, n, all[3])
			}
			payload = append(payload, all[4:4+size]...)
			all = all[4+size:]
		}
		if n != tt.packets || sequence != tt.sequence || !bytes.Equal(payload, append([]byte{3}, text...)) {
			t.Errorf("%s: %d packets, then %d, payload of %d bytes", tt.name, n, sequence, len(payload))
		}
	}
}

func TestCommandsThatCannotBeSent(t *testing.T) {
	var c protocol.Command
	c.Text(append(c.Query(10), "SELECT 1234567890"...))
	if _, _, err := c.Packets(); !errors.Is(err, protocol.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	for _, given := range []int{0, 1, 3} {
		c.Execute(1, 2, 1000)
		for range given {
			c.Int(1)
		}
		_, _, err := c.Packets()
		if wrong, ok := errors.AsType[*protocol.ArgumentError](err); !ok || wrong.Got != given || wrong.Want != 2 {
			t.Errorf("%d arguments for 2: %v", given, err)
		}
	}
}

func TestCommandsAllocateNothing(t *testing.T) {
	var c protocol.Command
	text := []byte("some text")
	n := testing.AllocsPerRun(100, func() {
		c.Execute(1, 2, 1<<20)
		c.Int(5)
		c.Bytes(text)
		if _, _, err := c.Packets(); err != nil {
			t.Fatal(err)
		}
		c.Text(append(c.Query(1<<20), text...))
		if _, _, err := c.Packets(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCapabilitiesAreThoseOfTheFirstPacket(t *testing.T) {
	packet := func(flags uint32, maria uint32) []byte {
		p := make([]byte, 36)
		p[0], p[3] = 32, 1
		for i := range 4 {
			p[4+i], p[32+i] = byte(flags>>(8*i)), byte(maria>>(8*i))
		}
		return p
	}
	const protocol41 = 1 << 9
	for _, tt := range []struct {
		name   string
		packet []byte
		want   protocol.Capabilities
		ok     bool
	}{
		{"MySQL", packet(protocol41|1|1<<24, 1<<4), protocol.Capabilities{DeprecateEOF: true}, true},
		{"MariaDB", packet(protocol41|1<<24, 1<<4), protocol.Capabilities{DeprecateEOF: true, CacheMetadata: true}, true},
		{"old", packet(protocol41|1, 0), protocol.Capabilities{}, true},
		{"TLS and compression", packet(protocol41|1|1<<11|1<<5, 0), protocol.Capabilities{TLS: true, Compress: true}, true},
		{"columns on request", packet(protocol41|1|1<<25, 0), protocol.Capabilities{Other: true}, true},
		{"attributes of queries", packet(protocol41|1<<24|1<<27, 0), protocol.Capabilities{DeprecateEOF: true, Other: true}, true},
		{"before 4.1", packet(1, 0), protocol.Capabilities{}, false},
		{"cut off", packet(protocol41, 0)[:20], protocol.Capabilities{}, false},
	} {
		if got, ok := protocol.ReadCapabilities(tt.packet); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v %t", tt.name, got, ok)
		}
	}
}
