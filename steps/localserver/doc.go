// Package localserver runs a private MariaDB or MySQL server: it finds a server program, makes a data folder, starts
// the server on a Unix socket that only the own user can reach, restarts it with other options on the same data, and
// leaves neither process nor folder behind. It knows nothing of plans, steps or workloads.
//
//	server, err := localserver.Start(ctx, localserver.Config{
//		Options: map[string]string{"innodb_buffer_pool_size": "1G"},
//	})
//	if err != nil {
//		return err
//	}
//	defer server.Stop(ctx)
//	// connect as server.User(), without a password, to server.Socket()
//
// # What is left behind
//
// Nothing, whatever happens. Stop ends the server and removes a temporary folder. Where benchplan is killed, the kernel
// ends the server (Linux; see system_linux.go), and the next Start, of whichever benchplan of the same user, sweeps its
// folder. A folder belongs to the process that holds a lock on a file in it, so that several benchplans at once do not
// disturb one another and a process id that was used again is no trap.
//
// Tests of other packages use localserver/servertest, which keeps one server for a test binary.
package localserver
