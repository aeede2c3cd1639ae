package main

// maxrssUnit is what ru_maxrss counts.
const maxrssUnit = 1024
