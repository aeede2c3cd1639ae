package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// pinsFile, in the folder of a plan's runs, says which of them are pinned as baselines. It names them by their folders within
// that one, so that it is true wherever the folder is moved to; and it is replaced as a whole.
const pinsFile = "baselines.json"

// pins is the content of baselines.json.
type pins struct {
	Version   int               `json:"v"`
	Baselines map[string]string `json:"baselines"` // name → folder of the run
}

const pinsVersion = 2 // the first has no checksum

// Pin gives a run a name by which others of its plan can be compared with it. A run that had the name loses it; a run may have
// several. The folder has to be one that Create made: beside it stands where the names are kept.
func Pin(folder, name string) error {
	if err := checkPinName(name); err != nil {
		return err
	}
	if _, err := readRun(folder); err != nil {
		return err
	}
	return changePins(folder, func(p *pins, run string) error {
		p.Baselines[name] = run
		return nil
	})
}

// Unpin takes the name from a run.
func Unpin(folder, name string) error {
	return changePins(folder, func(p *pins, run string) error {
		if p.Baselines[name] != run {
			return fmt.Errorf("%s is not pinned as %q%s", RunName(folder), name, pinnedNames(*p))
		}
		delete(p.Baselines, name)
		return nil
	})
}

// checkPinName refuses what could be taken for something else: a path, the word last, what cannot be typed.
func checkPinName(name string) error {
	if name == "" || name == "last" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, `/\`) || !nameTime(name).IsZero() ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) {
		return fmt.Errorf("a run cannot be pinned as %q: take a word without spaces and slashes that is neither \"last\" nor a time", name)
	}
	return nil
}

func changePins(folder string, change func(p *pins, run string) error) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	parent, run := filepath.Split(absolute)
	if nameTime(run).IsZero() {
		return fmt.Errorf("%s cannot be pinned: only runs at <plan>/<time> can; --baseline takes its path as well", folder)
	}
	p, err := readPins(parent)
	if err != nil {
		return err
	}
	if err := change(&p, run); err != nil {
		return err
	}
	p.Version = pinsVersion
	b, err := seal(p)
	if err != nil {
		return err
	}
	return folderError(parent, replaceFile(filepath.Join(parent, pinsFile), b))
}

// readPins reads the pins in the folder of a plan's runs; a folder without the file has none.
func readPins(parent string) (pins, error) {
	p := pins{Baselines: map[string]string{}}
	path := filepath.Join(parent, pinsFile)
	b, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	_, err = unseal(path, b, pinsVersion, &p)
	switch {
	case errors.Is(err, errDamaged):
		return p, fmt.Errorf("%w; remove it and pin the runs anew", err)
	case err != nil:
		return p, err
	case p.Baselines == nil:
		p.Baselines = map[string]string{}
	}
	return p, nil
}

// of gives the names of a run, sorted.
func (p pins) of(run string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.Baselines)) {
		if p.Baselines[name] == run {
			names = append(names, name)
		}
	}
	return names
}

func pinnedNames(p pins) string {
	if len(p.Baselines) == 0 {
		return ""
	}
	return "; pinned are: " + strings.Join(slices.Sorted(maps.Keys(p.Baselines)), ", ")
}

// Subject is the run for which a baseline is looked for; it need not be there yet.
type Subject struct {
	Plan    string
	Folder  string    // empty: it is not there yet
	Started time.Time // zero: now
}

// FindBaseline gives the folder of what a run is to be compared with: by the name of a pinned run of the same plan, by the word
// last for the run of the same plan that began last before it, was carried out to its end and is no rehearsal, or as Find does.
func FindBaseline(root string, of Subject, spec string) (string, error) {
	parent := filepath.Join(root, folderName(of.Plan))
	if of.Folder != "" && !nameTime(filepath.Base(of.Folder)).IsZero() {
		parent = filepath.Dir(of.Folder)
	}
	p, err := readPins(parent)
	if err != nil {
		return "", err
	}
	if run, ok := p.Baselines[spec]; ok {
		folder, err := within(parent, run)
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(filepath.Join(folder, runFile)); err != nil {
			return "", fmt.Errorf("the run that is pinned as %q is gone: %w; pin another, or take the name away with benchplan runs unpin %s %s", spec, err, RunName(folder), spec)
		}
		return folder, nil
	}
	if spec == "last" {
		return lastBefore(root, parent, of)
	}
	folder, err := Find(root, spec)
	if err != nil {
		return "", fmt.Errorf("%w%s", err, pinnedNames(p))
	}
	return folder, nil
}

// lastBefore finds the last good run of the same plan.
func lastBefore(root, parent string, of Subject) (string, error) {
	entries, err := briefList(root)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(parent, filepath.Clean(root)+string(filepath.Separator)) { // the run was named by its path
		entries = append(entries, listPlan(parent, briefEntry)...)
		sortEntries(entries)
	}
	for _, e := range slices.Backward(entries) {
		switch {
		case errors.Is(e.Err, errDamaged) && filepath.Dir(e.Folder) == filepath.Clean(parent) && (of.Folder == "" || !sameFolder(e.Folder, of.Folder)):
			return "", fmt.Errorf("which run of %s was the last good one cannot be told: %w; name the run that is meant", of.Plan, e.Err)
		case e.Err != nil, e.Plan != of.Plan, e.Rehearsal, e.Status != Done:
		case of.Folder != "" && sameFolder(e.Folder, of.Folder):
		case !of.Started.IsZero() && !e.Started.Before(of.Started):
		default:
			return e.Folder, nil
		}
	}
	return "", fmt.Errorf("there is no earlier run of %s under %s to compare with that was carried out to its end: run it once without --baseline", of.Plan, root)
}

func sameFolder(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}
