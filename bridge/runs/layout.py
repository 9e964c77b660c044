"""The layout of a results folder: the names of its files and folders.

DIR/sweep.json                                      what was asked for
DIR/traces/agent=mft/speed=2/seed=0/trace.parquet   a run; between agent and seed a level for each axis
DIR/metrics/{runs,points}.{csv,parquet}             what `roambus.spark.aggregation.aggregate` makes of the traces
DIR/aggregated/*.parquet                            what `roambus.spark.aggregation.store` keeps for the next
aggregation DIR/figures/*.{png,svg}, DIR/report.html            what `experiments` draws and writes from the metrics
"""

SWEEP_FILE = "sweep.json"
TRACES = "traces"
TRACE_FILE, LOG_FILE, FAILED_FILE = "trace.parquet", "run.log", "failed"
AGENT, SEED = "agent", "seed"
METRICS_FOLDER = "metrics"
STORE_FOLDER = "aggregated"
RUNS, POINTS = "runs", "points"
FIGURES_FOLDER = "figures"
REPORT_FILE = "report.html"
