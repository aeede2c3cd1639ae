//go:build race

package results

// raceDetector tells that the tests run under it, which makes them some ten times slower.
const raceDetector = true
