# SPDX-License-Identifier: MIT
"""What the machine is, and how busy others kept it while it was measured."""
import glob
import json
import os
import platform
import re
import time


def text_of(path, otherwise=''):
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return file.read().strip()
    except OSError:
        return otherwise


def size(text):
    """'1024K' -> 1048576."""
    units = {'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text or 0)


def cpu_name():
    info = text_of('/proc/cpuinfo')
    named = re.search(r'^(?:model name|Model|Processor)\s*:\s*(.+)$', info, re.M)
    name = named.group(1) if named else platform.machine()
    flags = re.search(r'^(?:flags|Features)\s*:\s*(.+)$', info, re.M)
    flags = flags.group(1).split() if flags else []
    known = [f for f in ('avx2', 'avx512f', 'avx512_vbmi', 'asimd', 'sve') if f in flags]
    return {
        'cpu': re.sub(r'\s+', ' ', name),
        'instructions': known,
        'virtual': 'hypervisor' in flags,
    }


def caches_of(cpu):
    """One entry for each cache that this CPU reaches; shared_by counts CPUs."""
    caches = []
    for folder in sorted(glob.glob(f'/sys/devices/system/cpu/cpu{cpu}/cache/index*')):
        kind = text_of(folder + '/type')
        if kind == 'Instruction':
            continue
        shared = text_of(folder + '/shared_cpu_map').replace(',', '')
        caches.append(
            {
                'level': int(text_of(folder + '/level', '0')),
                'type': kind.lower(),
                'bytes': size(text_of(folder + '/size', '0')),
                'shared_by': bin(int(shared or '1', 16)).count('1'),
            }
        )
    return caches


def assumed_caches():
    """The sizes that bench_cores assumes where the kernel shows no caches: the C library's, and
    for an unknown L2 that of bench/sizes.cc. 0: none."""
    known = {}
    for level in (2, 3):
        try:
            known[level] = max(0, os.sysconf(f'SC_LEVEL{level}_CACHE_SIZE'))
        except (ValueError, OSError):
            known[level] = 0
    return {'L2': known[2] or 1 << 20, 'L3': known[3]}


def cores_of(cpus):
    """How many cores those CPUs are: hyper-threads of one core name the same siblings."""
    siblings = {
        text_of(f'/sys/devices/system/cpu/cpu{c}/topology/thread_siblings_list', str(c))
        for c in cpus
    }
    return len(siblings)


def memory_bytes():
    total = re.search(r'^MemTotal:\s*(\d+) kB', text_of('/proc/meminfo'), re.M)
    return int(total.group(1)) * 1024 if total else 0


def huge_pages():
    chosen = re.search(r'\[(\w+)\]', text_of('/sys/kernel/mm/transparent_hugepage/enabled'))
    reserved = text_of('/proc/sys/vm/nr_hugepages', '0')
    return f'transparent: {chosen.group(1) if chosen else "not offered"}; reserved: {reserved}'


def compiler_of(build):
    """As meson noted it: in its log, since its introspection knows no compilers before version
    1.6."""
    noted = (
        re.search(
            r'^C compiler for the host machine: [^(]*\((\S+ \S+)',
            text_of(os.path.join(build, 'meson-logs/meson-log.txt')),
            re.M,
        )
        if build
        else None
    )
    return noted.group(1) if noted else 'unknown'


def version_of(build):
    project = text_of(os.path.join(build, 'meson-info/intro-projectinfo.json')) if build else ''
    return json.loads(project).get('version', 'unknown') if project else 'unknown'


def describe(build):
    cpus = sorted(os.sched_getaffinity(0))
    cores = cores_of(cpus)
    caches = caches_of(cpus[0])
    return {
        **cpu_name(),
        'cpus_allowed': len(cpus),
        'cores': cores,
        'smt': cores < len(cpus),
        'caches': caches,
        **({} if caches else {'caches_assumed': assumed_caches()}),
        'memory_bytes': memory_bytes(),
        'governor': text_of(
            f'/sys/devices/system/cpu/cpu{cpus[0]}/cpufreq/scaling_governor', 'not shown'
        ),
        'huge_pages': huge_pages(),
        'kernel': platform.release(),
        'compiler': compiler_of(build),
    }


def ticks():
    """Ticks of the allowed CPUs since boot: all, and those in which they idled."""
    cpus = {f'cpu{c}' for c in os.sched_getaffinity(0)}
    total = idle = 0
    for line in text_of('/proc/stat').splitlines():
        name, *fields = line.split()
        if name in cpus:
            # Those behind are counted in user and nice already.
            fields = [int(f) for f in fields[:8]]
            total += sum(fields)
            idle += fields[3] + fields[4]
    return total, idle


def own_ticks(process):
    """Ticks that a process used, with all its children that have ended."""
    stat = text_of(f'/proc/{process}/stat')
    fields = stat.rpartition(')')[2].split()
    return sum(int(f) for f in fields[11:15]) if len(fields) > 15 else 0


def snapshot(process):
    """The load now: the averages, and how idle the CPUs are over a second."""
    total, idle = ticks()
    time.sleep(1)
    total_later, idle_later = ticks()
    return {
        'time': time.time(),
        'load_average': os.getloadavg()[0],
        'idle_share': (idle_later - idle) / max(total_later - total, 1),
        'ticks': total_later,
        'busy': total_later - idle_later,
        'process': process,
        'own': own_ticks(process),
    }


def disturbances(load, idle, cpus):
    """How others disturbed a run. What the CPUs did while it ran decides; a load average, which the
    run and what its user did before it raise too, only where that was not counted."""
    why = [
        f'at the {words} the CPUs were {100 * idle[when]:.0f} % idle, with nothing of ours running'
        for when, words in (('begin', 'beginning'), ('end', 'end'))
        if idle[when] < 0.9
    ]
    if 'others' in idle:
        if idle['others'] > 0.05:
            why.append(f'others had {100 * idle["others"]:.0f} % of the CPUs during the run')
        return why
    for when, most in (('beginning', 0.5), ('end', 1.25)):
        average = load['begin' if when == 'beginning' else 'end']
        if average > most * cpus:
            on = f'{cpus} CPU{"s" if cpus > 1 else ""}'
            why.append(f'the load average was {average:.1f} at the {when}, on {on}')
    return why


def disturbance(load, idle, cpus):
    """The same in one clause, for where the long form stands elsewhere; '' if there was none."""
    why = disturbances(load, idle, cpus)
    if not why:
        return ''
    if idle.get('others', 0) > 0.05:
        return f'others had {100 * idle["others"]:.0f} % of the CPUs'
    if min(idle['begin'], idle['end']) < 0.9:
        return 'others used the CPUs before or after the run'
    return why[0]


def load_between(begin, end, cpus):
    """load_average, idle_share, noisy and why, from a snapshot before and one after."""
    load = {'begin': begin['load_average'], 'end': end['load_average']}
    idle = {'begin': begin['idle_share'], 'end': end['idle_share']}
    if begin['process'] == end['process'] and end['ticks'] > begin['ticks']:
        own = end['own'] - begin['own']
        others = (end['busy'] - begin['busy'] - own) / (end['ticks'] - begin['ticks'])
        idle['others'] = max(others, 0.0)
    why = disturbances(load, idle, cpus)
    return {'load_average': load, 'idle_share': idle, 'noisy': bool(why), 'noisy_why': why}
