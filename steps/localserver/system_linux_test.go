package localserver_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// TestTheServerHasASessionOfItsOwn, as a service has: else Linux would take its threads and those of the load for one crowd.
func TestTheServerHasASessionOfItsOwn(t *testing.T) {
	server := servertest.Start(t, localserver.Config{})
	if sid, err := unix.Getsid(server.PID()); err != nil || sid != server.PID() {
		t.Errorf("the session of process %d is %d, %v", server.PID(), sid, err)
	}
}
