//go:build soak

package engine_test

// breakStride is 1: connections are broken at every byte.
const breakStride = 1
