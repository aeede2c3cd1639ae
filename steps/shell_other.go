//go:build !unix

package steps

import "os/exec"

// endGroup does nothing: where there are no process groups the step's end ends the command alone.
func endGroup(*exec.Cmd) {}
