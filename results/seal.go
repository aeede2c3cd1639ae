package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// A JSON document of a run folder, run.json or baselines.json, ends in a field with a checksum, as a line of the journal does:
//
//	  "crc": "89abcdef"
//	}
//
// the CRC-32 (IEEE) of all bytes of the document that stand before it and its comma. Documents of version 1 have none.
const (
	sealBefore = ",\n  \"crc\": \""
	sealAfter  = "\"\n}\n"
	sealLen    = len(sealBefore) + 8 + len(sealAfter)
	sealedFrom = 2 // the version from which a document has to have one
)

// seal writes a struct as such a document.
func seal(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(b, []byte("\n}"))
	return append(body, sealOf(body)...), nil
}

func sealOf(body []byte) string { return sealBefore + sum(body) + sealAfter }

// sum is a checksum as records write it.
func sum(b []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)) }

// unseal reads such a document, called name in errors, of a version up to newest, into v. The error of one that is damaged wraps errDamaged
// and says where it is, as far as that can be known; where v was filled in all the same, readable is true.
func unseal(name string, b []byte, newest int, v any) (readable bool, err error) {
	var head struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return false, syntaxError(name, b, err)
	}
	damaged := error(nil)
	n := len(b) - sealLen
	sealed := n >= 0 && string(b[n:n+len(sealBefore)]) == sealBefore
	if sealed && string(b[n:]) != sealOf(b[:n]) || !sealed && head.Version >= sealedFrom {
		damaged = fmt.Errorf("%s is %w: its checksum is not that of its text, so that any of it may be wrong", name, errDamaged)
	}
	if head.Version > newest {
		return false, errors.Join(damaged, fmt.Errorf("%s: %w", name, newerError(head.Version, newest)))
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, syntaxError(name, b, err)
	}
	return true, damaged
}

// syntaxError says in which line of a document the mistake is.
func syntaxError(name string, b []byte, err error) error {
	offset := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
	}
	if offset < 0 {
		return fmt.Errorf("%s is %w: %w", name, errDamaged, err)
	}
	line := 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n"))
	return fmt.Errorf("%s is %w at line %d: %w", name, errDamaged, line, err)
}
