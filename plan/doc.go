// Package plan is the language: it reads a plan file, checks it, and expands it into scopes and cells.
//
// The way of the data is text → nodes → plan → scopes → cells → decoded specs. Read does the first half and finds what is
// wrong with the text; its check then walks every cell and finds what is wrong with the values. Both tell all mistakes at
// once, each once and with its place; what a mistake leaves unknown is not told again. An executor takes the second half
// anew, step by step, with what the steps yielded.
//
// The package touches no network and no disk. It knows no step kind, no workload and no metric by itself: it is given a
// Vocabulary. A step kind's or a workload's options are a struct whose tags carry name, default, range, unit and a sentence;
// decoding, documentation, the JSON Schema and the error messages all come from those.
//
// A secret is a Text from the expression that reads it to the spec that holds it; what is worked out of one is one too.
package plan
