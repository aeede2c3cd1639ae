package localserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// How long a server may take to end before it is forced to. What is forced recovers at its next start.
const (
	stopGrace    = 15 * time.Second
	restartGrace = 2 * time.Minute // flushing a large buffer pool takes its time, and is wanted
)

// root is the account that servers are made with; through the socket it has no password.
const root = "root"

// Config says what server is wanted. The zero value is a small and quick one with temporary data.
type Config struct {
	// Program is the server program, from Find or Inspect; nil: the one that Find gives.
	Program *Program
	// Data is a folder to keep the data in: made if it is missing, used again if a server of this kind left its data
	// there, refused if it holds anything else. Empty: a temporary folder that Stop removes.
	Data string
	// Options are the server's own, as in its manual, with underscores or dashes: innodb_buffer_pool_size: 1G. One
	// without a value stands alone on the command line. They replace the defaults of the same name.
	Options map[string]string
	// MaxConnections is how many clients at least are to get a connection, besides a few that look on; 0: the server's default, 151.
	MaxConnections int
	// MaxPreparedStatements is how many prepared statements at least all clients together may hold; 0: the server's default, 16,382.
	MaxPreparedStatements int
	// TCP lets the server listen on a free port of 127.0.0.1 too, where root has a password, since other users of the machine reach it.
	TCP bool
	// Log is told what is done; nil: nobody.
	Log *slog.Logger
}

// Server is a private server. Its methods may be called from several goroutines.
type Server struct {
	config   Config
	program  Program
	log      *slog.Logger
	run      *folder
	home     *folder // the same as run where the data are temporary
	password string

	change sync.Mutex // held while the server is started, halted or stopped

	mu       sync.Mutex // guards what follows
	process  *process   // nil while the server is halted
	address  string
	warnings []string
	stopped  bool
}

// Start finds a server program, makes a data folder where there is none yet, starts the server and returns when it
// answers. Before that it sweeps what a killed benchplan left behind. After an error nothing is left of it, except that a
// folder to be kept stays once its data are complete.
func Start(ctx context.Context, c Config) (*Server, error) {
	if err := checkOptions(c.Options); err != nil {
		return nil, err
	}
	s := &Server{config: c, log: c.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if c.Program != nil {
		s.program = *c.Program
	} else {
		p, err := Find(ctx)
		if err != nil {
			return nil, err
		}
		s.program = p
	}
	sweep(s.log)
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	return s, nil
}

// start does what Start has to undo if it fails.
func (s *Server) start(ctx context.Context) error {
	began := time.Now()
	if err := s.settle(); err != nil {
		return err
	}
	if s.home.claim.Family == "" {
		if err := s.program.bootstrap(ctx, s.home.path, s.config.tuning(s.program.Family, s.home.path, s.config.Options)); err != nil {
			return err
		}
		s.home.claim.Family, s.home.claim.Version = s.program.Family, s.program.Version
		if err := s.home.write(); err != nil {
			return err
		}
	}
	if err := s.launch(ctx, s.config.Options); err != nil {
		return err
	}
	if s.config.TCP {
		if err := s.admitTCP(ctx); err != nil {
			return err
		}
	}
	s.log.Info("private server ready", "program", s.program.Path, "version", s.program.Version, "pid", s.PID(), "data", s.Data(), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// settle claims and furnishes the folders.
func (s *Server) settle() (err error) {
	if s.run, err = newRunFolder(); err != nil {
		return err
	}
	s.home = s.run
	if s.config.Data != "" {
		if s.home, err = openHome(s.config.Data); err != nil {
			s.home = nil
			return err
		}
		if err := s.tie(); err != nil {
			return err
		}
	}
	if err := s.home.furnish(); err != nil {
		return fmt.Errorf("data folder of the private server: %w", err)
	}
	return nil
}

// tie makes home and run folder know of each other, and sees that the server can do with the data.
func (s *Server) tie() error {
	made := s.home.claim
	if made.Family != "" && made.Family != s.program.Family {
		return fmt.Errorf("data folder %s holds the data of %s, but the server program %s is %s: name another folder, or the other program in %s",
			s.home.path, Program{Family: made.Family, Version: made.Version}, s.program.Path, s.program, ProgramVariable)
	}
	if made.Run != "" {
		sweep(s.log, made.Run) // its benchplan may have had another folder for temporary files
	}
	s.run.claim.Home, s.home.claim.Run = s.home.path, s.run.path
	if err := s.run.write(); err != nil {
		return err
	}
	return s.home.write()
}

// discard takes away what a start that failed has made.
func (s *Server) discard() error {
	if s.run == nil {
		return nil
	}
	if s.process != nil {
		s.process.end(context.Background(), 0)
	}
	return s.leave()
}

// leave gives the folders back: the run folder is removed, and so is a home without complete data.
func (s *Server) leave() error {
	err := s.run.remove()
	if s.home == nil || s.home == s.run {
		return err
	}
	defer s.home.release()
	if s.home.claim.Family != "" {
		return err
	}
	for _, name := range []string{"data", "tmp", "error.log", claimName} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.home.path, name)))
	}
	if s.home.made {
		err = errors.Join(err, os.Remove(s.home.path))
	}
	return err
}

// Program gives the server program.
func (s *Server) Program() Program { return s.program }

// Socket gives the path of the Unix socket, at most 103 bytes; it stays the same over restarts.
func (s *Server) Socket() string { return socketPath(s.run.path) }

// Address gives host:port where the server listens on TCP; empty where it does not. A restart keeps it unless another
// program has taken the port meanwhile.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// User gives the account to connect with, which has all privileges: root.
func (s *Server) User() string { return root }

// Password gives the account's password on TCP; empty where the server does not listen there. The socket wants none.
func (s *Server) Password() string { return s.password }

// Data gives the server's data folder.
func (s *Server) Data() string { return dataFolder(s.home.path) }

// Warnings gives what the server said at its last start of options that it did not take as they were given: "option
// 'innodb-flush-log-at-trx-commit': unsigned value 9 adjusted to 3". It runs all the same, but not as was wished.
func (s *Server) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

// PID gives the id of the server process; 0 while there is none.
func (s *Server) PID() int {
	p := s.current()
	if p == nil {
		return 0
	}
	select {
	case <-p.ended:
		return 0
	default:
		return p.pid()
	}
}

// current gives the process under way, nil while the server is halted.
func (s *Server) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// Exited gives a channel that is closed when the server ends though nobody asked. It is that of the process under way:
// ask again after a restart. While the server is halted the channel is nil.
func (s *Server) Exited() <-chan struct{} {
	if p := s.current(); p != nil {
		return p.lost
	}
	return nil
}

// Err tells how a server ended that nobody asked to, with the last lines of its log; nil for any other.
func (s *Server) Err() error {
	p := s.current()
	if p == nil {
		return nil
	}
	select {
	case <-p.lost:
		return s.program.death(p)
	default:
		return nil
	}
}

// Restart ends the server in order and starts it on the same data with the options laid over Config.Options; those of
// an earlier Restart count no more. It also starts a server that was halted or has died. After an error the server is
// halted, and can be started again with other options.
func (s *Server) Restart(ctx context.Context, options map[string]string) error {
	if err := checkOptions(options); err != nil {
		return err
	}
	s.change.Lock()
	defer s.change.Unlock()
	if err := s.halt(ctx, restartGrace); err != nil {
		return err
	}
	return s.launch(ctx, overlay(s.config.Options, options))
}

// Halt ends the server in order and keeps its data: Restart starts it again. Halting a halted server does nothing.
func (s *Server) Halt(ctx context.Context) error {
	s.change.Lock()
	defer s.change.Unlock()
	return s.halt(ctx, restartGrace)
}

func (s *Server) halt(ctx context.Context, grace time.Duration) error {
	s.mu.Lock()
	p, stopped := s.process, s.stopped
	s.process = nil
	s.mu.Unlock()
	if stopped {
		return errors.New("the private server has been stopped and its folder given back")
	}
	if p != nil {
		p.end(ctx, grace)
	}
	return nil
}

// Stop ends the server and removes what is not to be kept. A server whose data are kept has 15 s for an orderly end, or
// until ctx is done, then it is forced to; temporary data are worth no wait. Stopping again does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	p, stopped := s.process, s.stopped
	s.stopped = true
	s.mu.Unlock()
	if stopped {
		return nil
	}
	if p != nil {
		var grace time.Duration
		if s.home != s.run {
			grace = stopGrace
		}
		p.end(ctx, grace)
	}
	if err := s.leave(); err != nil {
		return fmt.Errorf("removing the private server's folder: %w", err)
	}
	return nil
}
