//go:build soak

package main

import "testing"

// TestSoakLongLife runs a thousand cells.
func TestSoakLongLife(t *testing.T) { liveLong(t, 1000, 50) }
