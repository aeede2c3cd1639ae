//go:build !unix

package main

import (
	"errors"
	"os"
	"syscall"
)

var errSystem = errors.New("sysbench and what a process has used are to be had on Unix systems only")

func ownGroup() *syscall.SysProcAttr { return nil }

func endGroup(p *os.Process) error { return p.Kill() }

func peakMemory(*os.ProcessState) (int64, error) { return 0, errSystem }

func liftFileLimit() error { return errSystem }
