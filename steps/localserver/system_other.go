//go:build !unix

package localserver

import "syscall"

func attributes(bool) *syscall.SysProcAttr { return nil }

func commandLine(int) []string { return nil }
