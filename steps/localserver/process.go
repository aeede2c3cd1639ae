package localserver

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a server program under way. It lives in a process group of its own: Ctrl-C in a terminal goes to
// benchplan alone, which still needs the server for what is to be done at the end.
type process struct {
	cmd   *exec.Cmd
	asked atomic.Bool   // its end was asked for
	ended chan struct{} // closed when it has ended
	lost  chan struct{} // closed when it has ended though nobody asked
	err   error         // what Wait said; readable once one of the channels is closed
	said  string        // what it wrote into its log; readable like err
}

// startProcess starts the command, whose output goes to the log, which it closes at the end. It is ended when benchplan
// dies, however that comes about, where the kernel offers that: in order if it keeps data that are worth something.
func startProcess(cmd *exec.Cmd, log *errorLog, keeps bool) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{}), lost: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = log.file, log.file
	cmd.SysProcAttr = attributes(keeps)
	raiseFileLimit()
	started := make(chan error)
	go p.run(log, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the command and waits for its end on one and the same thread: Linux takes the end of the thread that
// started the child, not that of the whole process, as the parent's death.
func (p *process) run(log *errorLog, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer log.close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	p.said = log.text()
	if !p.asked.Load() {
		close(p.lost)
	}
	close(p.ended)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// terminate asks a process to end in order.
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) } // fails only where it has ended

// end asks the process to end, and forces it to after the grace or, if that is sooner, when ctx is done. It returns
// when the process is gone.
func (p *process) end(ctx context.Context, grace time.Duration) {
	p.asked.Store(true)
	if grace > 0 && ctx.Err() == nil {
		terminate(p.cmd.Process)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.ended:
			return
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}
