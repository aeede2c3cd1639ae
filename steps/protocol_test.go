package steps

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// packet is one of MySQL's packets.
func packet(sequence byte, payload ...byte) []byte {
	n := len(payload)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), sequence}, payload...)
}

// greeting is what a server begins with.
func greeting() []byte {
	b := append([]byte{10}, "8.0.36\x00"...)
	b = append(b, 1, 0, 0, 0)                                     // the connection's number
	b = append(b, "abcdefgh\x00"...)                              // the salt
	b = append(b, 0xff, 0xf7, 33, 2, 0, 0xff, 0x81, 21)           // capabilities without TLS, character set, status
	b = append(b, make([]byte, 10)...)                            // reserved
	b = append(b, "ijklmnopqrst\x00mysql_native_password\x00"...) // the rest of the salt, how to log in
	return packet(0, b...)
}

// fakeServer lets a function speak to each client. It stands for servers that are broken, which cannot be had otherwise.
func fakeServer(t *testing.T, speak func(c net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var speaking sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		speaking.Wait()
	})
	speaking.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			speaking.Go(func() {
				defer c.Close()
				speak(c)
			})
		}
	})
	return l.Addr().String()
}

// forEver sends a text again and again until the client goes away.
func forEver(c net.Conn, text []byte) {
	for {
		if _, err := c.Write(text); err != nil {
			return
		}
	}
}

// afterLogin lets a client in, and answers each of its commands.
func afterLogin(answer func(c net.Conn)) func(c net.Conn) {
	return func(c net.Conn) {
		buffer := make([]byte, 64<<10)
		if _, err := c.Write(greeting()); err != nil {
			return
		}
		if _, err := c.Read(buffer); err != nil {
			return
		}
		if _, err := c.Write(packet(2, 0, 0, 0, 2, 0, 0, 0)); err != nil {
			return
		}
		for {
			n, err := c.Read(buffer)
			if err != nil {
				return
			}
			if n > 4 && buffer[4] == 0x0e { // a ping is answered as it should be: what comes after is to be tried
				if _, err := c.Write(packet(1, 0, 0, 0, 2, 0, 0, 0)); err != nil {
					return
				}
				continue
			}
			answer(c)
		}
	}
}

// TestServersThatBreakTheProtocol: whatever a server sends, the step ends in bounded time with an error that has its place and names the target.
func TestServersThatBreakTheProtocol(t *testing.T) {
	say := func(b []byte) func(net.Conn) {
		return func(c net.Conn) { _, _ = c.Write(b); _, _ = io.Copy(io.Discard, c) }
	}
	random := func(seed uint64, n int) []byte {
		r := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	wrongSequence := greeting()
	wrongSequence[3] = 7
	old := bytes.Clone(greeting())
	old[4] = 9
	column := packet(2, append([]byte("\x03def\x00\x00\x00\x01a\x00\x0c\x21\x00\xff\x00\x00\x00"), 0xfd, 0, 0, 0, 0, 0)...)
	result := append(packet(1, 1), column...)
	cases := map[string]struct {
		speak func(net.Conn)
		want  string
	}{
		"closes at once":                  {func(net.Conn) {}, ""},
		"says nothing":                    {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "did not let the client in within 2s"},
		"endless frames":                  {func(c net.Conn) { forEver(c, append([]byte{0xff, 0xff, 0xff, 0}, make([]byte, 0xffffff)...)) }, "it sends without end"},
		"endless frames of other length":  {func(c net.Conn) { forEver(c, packet(0, 'x')) }, ""},
		"zeros":                           {func(c net.Conn) { forEver(c, make([]byte, 4096)) }, ""},
		"another sequence":                {say(wrongSequence), ""},
		"a greeting that is too long":     {func(c net.Conn) { forEver(c, packet(0, append([]byte{10}, bytes.Repeat([]byte("x"), 1<<20)...)...)) }, "it sends without end"},
		"a greeting that is too short":    {say(packet(0, 10)), ""},
		"a greeting without an end":       {say(packet(0, append([]byte{10}, "8.0"...)...)), ""},
		"half a greeting":                 {func(c net.Conn) { _, _ = c.Write(greeting()[:20]) }, ""},
		"an empty packet":                 {say(packet(0)), ""},
		"an error in place of a greeting": {say(packet(0, append([]byte{0xff, 0x10, 0x04}, "Too many connections"...)...)), "Error 1040: Too many connections"},
		"half an error":                   {say(packet(0, 0xff)), ""},
		"an old protocol":                 {say(old), ""},
		"HTTP":                            {say([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")), ""},
		"ssh":                             {say([]byte("SSH-2.0-OpenSSH_9.6\r\n")), ""},
		"a greeting, then nothing":        {say(greeting()), "did not let the client in within 2s"},
		"a greeting, then zeros":          {func(c net.Conn) { _, _ = c.Write(greeting()); forEver(c, make([]byte, 4096)) }, ""},
		"a result of countless columns":   {afterLogin(func(c net.Conn) { _, _ = c.Write(packet(1, 0xfe, 0, 0, 0, 0, 0, 1, 0, 0)) }), "of more than 4096 columns"},
		"a result of many columns":        {afterLogin(func(c net.Conn) { _, _ = c.Write(packet(1, 0xfd, 0xff, 0xff, 0xff)) }), "of more than 4096 columns"},
		"endless rows": {afterLogin(func(c net.Conn) {
			_, _ = c.Write(result)
			row := packet(3, append([]byte{0xfc, 0xe8, 0x03}, make([]byte, 1000)...)...)
			for ; ; row[3]++ {
				if _, err := c.Write(row); err != nil {
					return
				}
			}
		}), ""}, // after 10,000 of them, or when the time is over
		"a cut answer":         {afterLogin(func(c net.Conn) { _, _ = c.Write(packet(1, 0, 0xfe)) }), "what it sends cannot be read"},
		"a request for a file": {afterLogin(func(c net.Conn) { _, _ = c.Write(packet(1, append([]byte{0xfb}, "/etc/passwd"...)...)) }), "local file '/etc/passwd' is not registered"},
	}
	for seed := range uint64(8) {
		cases["random bytes "+string(rune('a'+seed))] = struct {
			speak func(net.Conn)
			want  string
		}{func(c net.Conn) { forEver(c, random(seed, 1000)) }, ""}
		cases["random answers "+string(rune('a'+seed))] = struct {
			speak func(net.Conn)
			want  string
		}{afterLogin(func(c net.Conn) { _, _ = c.Write(packet(1, random(seed, int(seed+1)*20)...)) }), ""}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := fakeServer(t, c.speak)
			begin := time.Now()
			o := carryOut(t, "target: { address: \""+address+"\", connect_timeout: 2s, user: u }\nsteps:\n  - { timeout: 5s, sql: SELECT 1 }\n")
			if took := time.Since(begin); took > 40*time.Second {
				t.Errorf("it took %v", took)
			}
			if len(o.errs) == 0 && strings.HasPrefix(name, "random answers") {
				return // it can be one that means something
			}
			if len(o.errs) != 1 || !strings.HasPrefix(o.errs[0], "p.yaml:3:20: sql: ") || !strings.Contains(o.errs[0], c.want) {
				t.Errorf("errors %q, want %q", o.errs, c.want)
			}
		})
	}
}
