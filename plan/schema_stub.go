package plan

func Schema(*Vocabulary) (any, error) { return nil, nil }
