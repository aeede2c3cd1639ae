//go:build !soak

package engine_test

// breakStride is how many bytes lie between two places at which connections are broken.
const breakStride = 23
