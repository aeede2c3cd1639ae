//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

// runBare is the bare client, which is written for Linux.
func runBare(context.Context, string, io.Writer) error {
	return errors.New("it is to be had on Linux only")
}
