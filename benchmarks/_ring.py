"""Independent numbers of shared/cases/turn5: 12 senders, ring 7 m, 60 frames/s each of 7 bytes, no network header."""
import math, sys
from dataclasses import replace
from statistics import fmean, stdev
from benchmarks.mac_fidelity import RADIO, FLAT, _static, Probe, run as carry
from benchmarks import mac_fidelity as mf
from roambus.bridge.backend import Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.python_protocol.simtime import SECOND
from random import Random
def planned(seed):
    places=[(50+7*math.cos(k*math.tau/12),50+7*math.sin(k*math.tau/12)) for k in range(12)]+[(50,50)]
    sc=_static(places,seed)
    sc=replace(sc,mac=replace(sc.mac,network_overhead_bytes=0),time_limit=10*SECOND)
    fr=[]
    for k in range(12):
        r=Random(f"{seed}/{k}"); at=SECOND; n=0
        while True:
            at+=round(r.expovariate(60)*SECOND)+1
            if at>=9*SECOND: break
            fr.append(Transmission(k,at,12,Probe(k<<16|n,b""),7)); n+=1
    return sc,fr
re,de=[],[]
for seed in range(int(sys.argv[1])):
    p=planned(seed); c=mf.run(RadioBackend(p[0]),p)
    re.append(c["retransmissions"]/c["offered"]); de.append(c["received"]/c["wanted"])
n=len(re)
print("retransmissions",fmean(re),"+-",stdev(re)/n**.5,"delivered",fmean(de),"+-",stdev(de)/n**.5, "(0.839, 0.6166 with 192; 0.8105, 0.6265 with 182)")
