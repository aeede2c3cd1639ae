//go:build linux

package localserver_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"benchplan/steps/localserver"
)

// victim is the environment variable that makes the test binary a benchplan to be killed; its value is the folder to
// keep the data in, or "-".
const victim = "LOCALSERVER_TEST_VICTIM"

func TestMain(m *testing.M) {
	if data := os.Getenv(victim); data != "" {
		beVictim(data)
	}
	goleak.VerifyTestMain(m)
}

// beVictim starts a server, says where it is, and waits to be killed.
func beVictim(data string) {
	c := localserver.Config{Data: data}
	if data == "-" {
		c.Data = ""
	}
	server, err := localserver.Start(context.Background(), c)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(server.PID(), server.Socket())
	select {}
}
