package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/semantic"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
)

// embeddingsKey is the environment variable with the key of --embeddings. It is
// not one that other programs use: the key goes to whatever address is given.
const embeddingsKey = "RELAYFS_EMBEDDINGS_KEY"

// semanticFlags say where the search by meaning gets its vectors.
type semanticFlags struct{ url, model string }

func (f *semanticFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "embeddings", "", "server with the embeddings API of OpenAI or Ollama for semantic_search, for example http://127.0.0.1:11434 (default none: vectors are computed from the notes); key in $"+embeddingsKey)
	cmd.Flags().StringVar(&f.model, "embeddings-model", "", "model of --embeddings")
}

// endpoint is the server, nil if none is given.
func (f *semanticFlags) endpoint(log *slog.Logger) *semantic.Endpoint {
	if f.url == "" {
		return nil
	}
	return &semantic.Endpoint{URL: f.url, Model: f.model, Key: os.Getenv(embeddingsKey), Logger: log}
}

func (f *semanticFlags) check() error {
	if f.url == "" {
		if f.model != "" {
			return errors.New("--embeddings-model needs --embeddings")
		}
		return nil
	}
	return f.endpoint(nil).Check()
}

// open makes the index of a session, which is kept with its state.
func (f *semanticFlags) open(s *ownership.Session, log *slog.Logger) *semantic.Index {
	o := semantic.Options{Dir: filepath.Join(s.State, "semantic"), Logger: log}
	if e := f.endpoint(log); e != nil {
		o.Embedder = e
	}
	return semantic.New(s.Workspace, o)
}
