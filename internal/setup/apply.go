package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
)

// A Machine carries out plans on this machine.
type Machine struct {
	Run      Runner    // runs commands; required
	StateDir string    // directory of the journal; required
	Files    Files     // files that keep a plan over a restart; may be nil
	Log      io.Writer // gets every command before it runs; may be nil
}

// Files returns the files to write for a plan, and the commands that make the system
// read them.
type Files func(p *Plan) (files []File, reload [][]string)

// A File is one file of a plan.
type File struct {
	Path string
	Mode os.FileMode
	Text []byte
}

// Steps returns the commands that Apply would run for a plan.
func (m *Machine) Steps(ctx context.Context, p *Plan) ([][]string, error) {
	var out [][]string
	for _, port := range p.Ports {
		now, err := readState(ctx, m.Run, p.OS, port.Interface)
		if err != nil {
			return nil, err
		}
		out = append(out, forward(p.OS, now, port)...)
	}
	return out, nil
}

// Apply carries out a plan. If a step fails, Apply undoes everything that setup has
// changed on this machine, and returns an error that names the step.
func (m *Machine) Apply(ctx context.Context, p *Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	j, err := readJournal(m.StateDir, p.OS)
	if err != nil {
		return err
	}
	if err := m.apply(ctx, p, j); err != nil {
		if undoErr := m.Undo(context.WithoutCancel(ctx)); undoErr != nil {
			return fmt.Errorf("set up %s: %w; undoing it failed too (%v); try thunder setup --undo", p.Host, err, undoErr)
		}
		return fmt.Errorf("set up %s: %w; everything that setup had changed was undone", p.Host, err)
	}
	return nil
}

func (m *Machine) apply(ctx context.Context, p *Plan, j *Journal) error {
	// If an earlier plan gave a port another address, remove that first.
	for _, port := range p.Ports {
		if old := j.port(port.Interface); old != nil && old.Added != port.Address {
			if err := m.restore(ctx, j, old); err != nil {
				return err
			}
		}
	}
	states := make([]State, len(p.Ports))
	for i, port := range p.Ports {
		now, err := readState(ctx, m.Run, p.OS, port.Interface)
		if err != nil {
			return err
		}
		states[i] = now
		if old := j.port(port.Interface); old != nil {
			old.Added = port.Address
		} else {
			j.Ports = append(j.Ports, JournalPort{Before: now, Added: port.Address})
		}
	}
	var files []File
	var reload [][]string
	if m.Files != nil {
		files, reload = m.Files(p)
	}
	for _, f := range files {
		if err := j.remember(f.Path); err != nil {
			return err
		}
	}
	j.Plan = p
	// From here on, Undo works after a crash.
	if err := j.save(); err != nil {
		return err
	}
	for i, port := range p.Ports {
		if err := m.runAll(ctx, forward(p.OS, states[i], port)); err != nil {
			return err
		}
	}
	for _, f := range files {
		m.say("write " + f.Path)
		if err := writeDurably(f.Path, f.Text, f.Mode); err != nil {
			return fmt.Errorf("write files for restart: %w", err)
		}
	}
	return m.runAll(ctx, reload)
}

// remember records the content of a file before it is written for the first time.
func (j *Journal) remember(path string) error {
	if j.file(path) != nil {
		return nil
	}
	entry := JournalFile{Path: path}
	st, err := os.Stat(path)
	switch {
	case err == nil:
		entry.Existed, entry.Mode = true, uint32(st.Mode().Perm())
		if entry.Previous, err = os.ReadFile(path); err != nil {
			return fmt.Errorf("write files for restart: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write files for restart: %w", err)
	}
	j.Files = append(j.Files, entry)
	return nil
}

func (m *Machine) runAll(ctx context.Context, cmds [][]string) error {
	for _, argv := range cmds {
		m.say(strings.Join(argv, " "))
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
	}
	return nil
}

func (m *Machine) say(line string) {
	if m.Log != nil {
		fmt.Fprintln(m.Log, "  "+line)
	}
}

// restore restores the state of one interface.
func (m *Machine) restore(ctx context.Context, j *Journal, p *JournalPort) error {
	now, err := readState(ctx, m.Run, j.OS, p.Before.Interface)
	if err != nil {
		return err
	}
	return m.runAll(ctx, backward(j.OS, now, p.Before, p.Added))
}

// Undo restores everything in the journal, and then removes the journal. It ignores
// interfaces that no longer exist. It continues after an error and returns all of them.
func (m *Machine) Undo(ctx context.Context) error {
	j, err := readJournal(m.StateDir, "")
	if err != nil {
		return err
	}
	if j.empty() {
		m.say("nothing to undo: " + m.StateDir + " has no record of changes")
		return nil
	}
	var errs []error
	var left []JournalPort
	for i := range j.Ports {
		p := &j.Ports[i]
		err := m.restore(ctx, j, p)
		switch {
		case errors.Is(err, ErrNoInterface):
			m.say(p.Before.Interface + " no longer exists, nothing to restore")
		case err != nil:
			errs, left = append(errs, err), append(left, *p)
		}
	}
	var leftFiles []JournalFile
	for _, f := range j.Files {
		m.say("restore " + f.Path)
		if err := f.restore(); err != nil {
			errs, leftFiles = append(errs, err), append(leftFiles, f)
		}
	}
	if len(errs) == 0 {
		return os.Remove(j.path)
	}
	j.Ports, j.Files = left, leftFiles
	return errors.Join(append(errs, j.save())...)
}

func (f *JournalFile) restore() error {
	if f.Existed {
		return writeDurably(f.Path, f.Previous, os.FileMode(f.Mode))
	}
	err := os.Remove(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Applied returns the interfaces that setup has changed on this machine, with their
// addresses.
func (m *Machine) Applied() (map[string]netip.Prefix, error) {
	j, err := readJournal(m.StateDir, "")
	if err != nil {
		return nil, err
	}
	out := map[string]netip.Prefix{}
	for _, p := range j.Ports {
		out[p.Before.Interface] = p.Added
	}
	return out, nil
}
