package target

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

// ProcessID gives the server's process where it is on this machine; 0 where that cannot be told. Behind a unix socket the kernel knows
// it; else it stands in the file that the server's variable pid_file names, if that can be read here.
func ProcessID(ctx context.Context, config *mysql.Config, variables map[string]string) int {
	if config.Net == "unix" {
		// A socket that the system opens for the server is the system's, as the kernel sees it.
		if pid := peer(ctx, config); pid > 0 && command(pid) != "systemd" {
			return pid
		}
	}
	return written(variables["pid_file"])
}

// Running tells whether a process is there.
func Running(pid int) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid))
	return err == nil
}

// peer connects over a unix socket and asks the kernel who listens on it.
func peer(ctx context.Context, config *mysql.Config) int {
	pid := 0
	c := config.Clone()
	c.Logger = &mysql.NopLogger{}
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if unix, ok := conn.(*net.UnixConn); ok && err == nil {
			pid = credentials(unix)
		}
		return conn, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	// The log-in is done to its end: the server counts connections that break off before it.
	if conn, err := connector.Connect(ctx); err == nil {
		_ = conn.Close()
	}
	return pid
}

func credentials(conn *net.UnixConn) int {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if credentials, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(credentials.Pid)
		}
	})
	return pid
}

// written reads the file of a process id. The process has to be a server's: a file may be older than the machine's last start.
func written(file string) int {
	if file == "" {
		return 0
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 {
		return 0
	}
	if name := command(pid); !strings.Contains(name, "mysqld") && !strings.Contains(name, "mariadbd") {
		return 0
	}
	return pid
}

// command is the name of a process's program; empty where it has gone.
func command(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSpace(string(name))
}
