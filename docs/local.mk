# docs/ - the manual. tharsis-commands.7 is written by `help -man`; a test holds it to the command table.
dist_man_MANS = docs/tharsis.1 docs/tharsis-mpi.1 docs/tharsis-commands.7
