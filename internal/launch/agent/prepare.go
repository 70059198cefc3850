package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"thundercollective/internal/freeport"
	"thundercollective/internal/launch/wire"
)

// A prepared generation is ready to start its ranks.
type prepared struct {
	ready       wire.Ready
	coordinator *coordinator // nil if this agent does not serve it
}

func (p *prepared) close() {
	if p.coordinator != nil {
		p.coordinator.close()
	}
}

// prepare prepares a generation and answers the launcher.
func (a *agent) prepare(ctx context.Context, req wire.Prepare) error {
	if a.prepared != nil {
		a.prepared.close()
		a.prepared = nil
	}
	a.quiet = req.Silence
	a.heard()
	p, err := a.tryPrepare(ctx, req)
	var lost *lostError
	switch {
	case errors.As(err, &lost):
		return lost.err
	case err != nil:
		return a.conn.Send(wire.KindFailed, 0, failure(err))
	}
	a.prepared = p
	return a.conn.Send(wire.KindReady, 0, p.ready)
}

func (a *agent) tryPrepare(ctx context.Context, req wire.Prepare) (*prepared, error) {
	if err := a.makeJobDir(); err != nil {
		return nil, err
	}
	p := &prepared{}
	dir, err := workDir(req)
	if req.Copy {
		dir = filepath.Join(a.files.path, "copy")
		err = a.receive(ctx, dir)
	}
	if err != nil {
		return nil, err
	}
	p.ready.Dir = dir
	if p.ready.Program, err = findProgram(req.Program, dir); err != nil {
		return nil, err
	}
	lns, err := listen(req.Host, req.Ports)
	if err != nil {
		return nil, err
	}
	for i, ln := range lns {
		p.ready.Ports = append(p.ready.Ports, ln.Addr().(*net.TCPAddr).Port)
		if i == 0 && req.Serve != nil {
			p.coordinator = coordinate(ln, *req.Serve, func(rank int, generation uint32) {
				a.conn.Send(wire.KindReforming, rank, wire.Reforming{Generation: generation})
			})
			continue
		}
		ln.Close()
	}
	return p, nil
}

// makeJobDir creates the directory of the job's files, once.
func (a *agent) makeJobDir() (err error) {
	if a.files == nil {
		if a.files, err = newJobDir(); err != nil {
			return fmt.Errorf("directory of the job's files: %v", err) // %v: must not look like a missing program
		}
	}
	return nil
}

func workDir(req wire.Prepare) (string, error) {
	st, err := os.Stat(req.Dir)
	if err == nil && !st.IsDir() {
		err = &fs.PathError{Op: "open", Path: req.Dir, Err: syscall.ENOTDIR}
	}
	switch {
	case err == nil:
		return req.Dir, nil
	case req.Required && !req.Copy:
		return "", fmt.Errorf("working directory: %v", err) // %v: must not look like a missing program
	}
	return os.UserHomeDir()
}

// findProgram returns the first of the alternatives that can be run. Those with a slash are
// relative to dir.
func findProgram(alternatives []string, dir string) (string, error) {
	var first error
	for _, name := range alternatives {
		if strings.Contains(name, "/") && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// listen opens all ports before it closes any, so that they are all different.
func listen(host string, ports []int) ([]*net.TCPListener, error) {
	var lns []*net.TCPListener
	for _, port := range ports {
		ln, err := listenAt(host, port)
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			// The others know this machine by an address that it does not have itself, as
			// behind a NAT router.
			ln, err = listenAt("", port)
		}
		if err != nil {
			for _, ln := range lns {
				ln.Close()
			}
			if errors.Is(err, syscall.EADDRINUSE) {
				return nil, fmt.Errorf("port %d is taken", port)
			}
			return nil, err
		}
		lns = append(lns, ln)
	}
	return lns, nil
}

// listenAt listens on a port; 0 selects any port that ranks can take over.
func listenAt(host string, port int) (*net.TCPListener, error) {
	if port == 0 {
		return freeport.Listen(host)
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return ln.(*net.TCPListener), nil
}

// A lostError reports that the launcher was lost in the middle of an operation.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }

// receive unpacks the tar stream that follows into dir.
func (a *agent) receive(ctx context.Context, dir string) error {
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := unpack(pr, dir)
		pr.CloseWithError(err) // nil: drop what follows the archive
		done <- err
	}()
	for {
		f, err := a.next(ctx)
		if err != nil {
			pw.CloseWithError(err)
			<-done
			return &lostError{err}
		}
		switch f.Kind {
		case wire.KindPing:
		case wire.KindCopy:
			pw.Write(f.Data) // fails only if unpacking failed; done has its error
		case wire.KindCopyEnd:
			pw.Close()
			if err := <-done; err != nil {
				return fmt.Errorf("receive files: %w", err)
			}
			return nil
		default:
			pw.CloseWithError(io.ErrUnexpectedEOF)
			<-done
			return &lostError{fmt.Errorf("unexpected frame %q among files", f.Kind)}
		}
	}
}

// failure returns the message that reports err to the launcher.
func failure(err error) wire.Failed {
	f := wire.Failed{Code: 1, Message: err.Error()}
	switch e, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); {
	case ok:
		f.Code = e.ExitCode()
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		f.Code = 127
	case errors.Is(err, fs.ErrPermission):
		f.Code = 126
	}
	return f
}
