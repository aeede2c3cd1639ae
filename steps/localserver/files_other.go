//go:build !unix

package localserver

func raiseFileLimit() {}
