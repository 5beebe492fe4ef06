# scripts/ - what users run and copy, and what belongs to their shells.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = scripts/completion/tharsis
install-data-hook:
	cd $(DESTDIR)$(bashcompletiondir) && ln -s -f tharsis tharsis-mpi
uninstall-hook:
	rm -f $(DESTDIR)$(bashcompletiondir)/tharsis-mpi

# How the predictor of predictor/models was made.
EXTRA_DIST += scripts/fit_training.tcl scripts/train_default_models.tcl
# Errors of plans on runs that the model was not made with (docs/models/training.md).
EXTRA_DIST += scripts/llm_ops.tcl
