package checkpoint

import (
	"errors"
	"fmt"
	"math"

	"github.com/relayfs/relayfs/bridge/model"
)

// Check reads the whole file at path and changes nothing. No process may have the file open.
func Check(path string) error {
	db, err := openReadOnly(&path, Options{})
	if err != nil {
		return err
	}
	f := &File{db: db}
	return errors.Join(f.Check(), f.Close())
}

// Check reads the whole file and verifies that each value can be decoded and that references match. It blocks writes,
// but not reads.
func (f *File) Check() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.View(func(v View) error {
		if err := checkVersion(v.tx); err != nil {
			return err
		}
		_, err1 := v.Proposals()
		_, err2 := v.SessionNotes()
		_, err3 := v.Journal(math.MaxInt, nil)
		return errors.Join(err1, err2, err3, v.checkDocuments(), v.checkPaths())
	})
}

func (v View) checkDocuments() error {
	unsettled := bucket(v.tx, unsettledBucket)
	listed := unsettled.Inspect().KeyN
	err := bucket(v.tx, docsBucket).ForEachBucket(func(key []byte) error {
		doc := v.Document(model.DocID(key))
		if _, err := doc.Revisions(); err != nil {
			return fmt.Errorf("document %q: %w", key, err)
		}
		if doc.Last() > doc.FileMark().Seq {
			listed--
			if k, _ := unsettled.Cursor().Seek(key); string(k) != string(key) {
				return Damaged(fmt.Sprintf("document %q is not listed as unsettled", key))
			}
		}
		return nil
	})
	if err == nil && listed != 0 {
		err = Damaged("settled documents are listed as unsettled")
	}
	return err
}

func (v View) checkPaths() error {
	return bucket(v.tx, pathsBucket).ForEach(func(p, id []byte) error {
		if v.Document(model.DocID(id)).Path() != model.Path(p) {
			return Damaged(fmt.Sprintf("the document of %q has another path", p))
		}
		return nil
	})
}
