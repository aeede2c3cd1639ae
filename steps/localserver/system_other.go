//go:build !unix

package localserver

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }

func commandLine(int) []string { return nil }
