// Package server answers requests over HTTP.
package server

import (
	"context"
	"fmt"
	. "math"
	_ "net/http/pprof"

	"github.com/acme/kit/log"
	store "github.com/acme/shop/internal/storage"
)

import "sync"

// DefaultPort is used without a setting.
const DefaultPort = 8080

const (
	// StateIdle waits.
	StateIdle State = iota
	StateBusy
	stateDone, stateFailed = "done", "failed"
)

var ErrClosed = errors.New("closed")

var (
	registry      = map[string]Handler{}
	defaultClient *Client
	first, second int
)

// State of a server.
type State int

type (
	// Option changes a server.
	Option func(*Server)

	ID = store.ID
)

// Handler answers requests.
type Handler interface {
	fmt.Stringer
	Closer
	// Handle answers one.
	Handle(ctx context.Context, request *Request) (*Response, error)
	name() string
}

type Number interface {
	~int | ~float64
}

/*
Server holds everything together.
*/
type Server struct {
	sync.Mutex
	*Base
	store.Cache

	// Addr is where it listens.
	Addr    string `json:"addr"`
	state   State
	handler Handler
	clients map[ID]*Client
	limits  struct {
		depth int
	}
	onClose func(error) Result
}

// NewServer makes a server.
func NewServer(addr string, options ...Option) *Server {
	server := &Server{Addr: addr, handler: defaultHandler{}}
	client := Client{Timeout: timeout}
	buffer := new(Buffer)
	for _, option := range options {
		option(server)
	}
	server.clients[client.ID] = &client
	buffer.Reset()
	return server
}

// Run serves until the context ends.
//
// It returns the first error.
func (s *Server) Run(ctx context.Context) (err error) {
	s.Lock()
	defer s.Unlock()
	s.state = StateBusy
	go s.watch(ctx, s.clients)
	handler := func(response *Response) error {
		local := 3
		return s.handler.Close(response, local)
	}
	if err := s.each(handler); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	switch typed := s.handler.(type) {
	case *MuxHandler:
		typed.Route("/", log.Wrap(healthCheck))
	case store.Backend:
		return ErrClosed
	}
	return nil
}

func (s Server) watch(ctx context.Context, clients map[ID]*Client) {
	select {
	case <-ctx.Done():
		log.With("clients", len(clients)).Info(Floor(1.5))
	}
}

func (*Server) each(visit func(*Response) error) error {
	return visit(nil)
}

func healthCheck(w ResponseWriter, _ *Request) {
	type payload struct {
		OK bool
	}
	w.Write(encode(payload{OK: true}))
}

func init() {
	registry["health"] = HandlerFunc(healthCheck)
	Register(healthCheck, WithName("health"))
}
