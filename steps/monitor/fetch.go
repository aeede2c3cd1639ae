package monitor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// fetch has grep write the files, each line behind its file's name and a colon: one process for a sample. They are put into a temporary
// folder that lives as long as they are read.
func (r *remote) fetch(ctx context.Context, files ...string) (root string, release func(), err error) {
	files = slices.Sorted(slices.Values(files)) // of a file that is named twice, each line would come twice
	files = slices.Compact(files)
	// /dev/null makes grep write names also where there is only one file.
	out, err := r.run(ctx, "LC_ALL=C grep '' /dev/null "+strings.Join(files, " ")+" 2>/dev/null")
	if err != nil {
		return "", nil, err
	}
	// In memory where that can be had: a disk costs more than all the rest, and may be one that is measured.
	root, err = os.MkdirTemp("/dev/shm", "benchplan-fetched-")
	if err != nil {
		root, err = os.MkdirTemp("", "benchplan-fetched-")
	}
	if err != nil {
		return "", nil, fmt.Errorf("what was read has to be put into a temporary folder: %w", err)
	}
	release = func() { os.RemoveAll(root) }
	if err := unpack(root, out); err != nil {
		release()
		return "", nil, err
	}
	return root, release, nil
}

// unpack writes the files of grep's answer under root. The names come from another machine: os.Root keeps them there.
func unpack(root string, answer []byte) error {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer folder.Close()
	// There may be no file at all of these, and readers want the folders.
	for _, name := range []string{"proc", "sys"} {
		if err := folder.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	texts := map[string][]byte{}
	for line := range bytes.Lines(answer) {
		// Lines of another form are remarks of grep itself.
		if name, text, ok := bytes.Cut(line, []byte(":")); ok && bytes.HasPrefix(name, []byte("/")) {
			texts[string(name)] = append(texts[string(name)], text...)
		}
	}
	for name, text := range texts {
		if err := put(folder, name, text); err != nil {
			return err
		}
	}
	return nil
}

func put(folder *os.Root, name string, text []byte) error {
	name = strings.TrimPrefix(name, "/")
	if err := folder.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return folder.WriteFile(name, text, 0o600)
}

func (r *remote) platform(ctx context.Context) (string, error) {
	out, err := r.run(ctx, "uname -s; uname -m")
	if err != nil {
		return "", err
	}
	system, machine, _ := strings.Cut(strings.ToLower(strings.TrimSpace(string(out))), "\n")
	// What Go calls otherwise than uname.
	switch machine {
	case "x86_64":
		machine = "amd64"
	case "aarch64":
		machine = "arm64"
	case "i386", "i686":
		machine = "386"
	case "loongarch64":
		machine = "loong64"
	}
	return system + "/" + machine, nil
}

func (r *remote) resolve(ctx context.Context, path string) (string, error) {
	out, err := r.run(ctx, "p="+quote(path)+`
while [ ! -e "$p" ] && [ "$p" != / ] && [ "$p" != . ]; do p=$(dirname -- "$p"); done
readlink -f -- "$p"`)
	if err != nil {
		return "", err
	}
	there := strings.TrimSuffix(string(out), "\n")
	if there == "" {
		return "", fmt.Errorf("what folder %s is, readlink does not tell there", path)
	}
	return there, nil
}

func (r *remote) free(ctx context.Context, path string) (int64, error) {
	// Blocks that an unprivileged user may take, and their size: as statfs tells.
	out, err := r.run(ctx, "stat -f -c '%a %S' -- "+quote(path)+" 2>&1")
	if err != nil {
		return 0, err
	}
	blocks, size, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	n, err1 := strconv.ParseInt(blocks, 10, 64)
	s, err2 := strconv.ParseInt(size, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("stat -f does not tell: %.200q", strings.TrimSpace(string(out)))
	}
	return n * s, nil
}
