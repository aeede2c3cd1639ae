//go:build !linux

package engine

import "time"

// sleepThread sleeps for d, as exactly as the runtime's timers are.
func sleepThread(d time.Duration) { time.Sleep(d) }
