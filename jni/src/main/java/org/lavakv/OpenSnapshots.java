package org.lavakv;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Where the snapshots of an instance that are open now were taken: all that callers can hold of an
 * instance, since scans keep nothing open between their pages.
 *
 * <p>Threads: any thread.
 */
final class OpenSnapshots {

    /** How many a warning describes. */
    static final int DESCRIBED_MAX = 8;

    private final Set<Origin> open = ConcurrentHashMap.newKeySet();

    void add(Origin origin) {
        open.add(origin);
    }

    /** No longer to be warned of: closed, found by the cleaner, or the caller answers for it. */
    void remove(Origin origin) {
        open.remove(origin);
    }

    /** Those open now, the oldest first, each for one caller only. */
    List<Origin> take() {
        return open.stream()
                .filter(open::remove)
                .sorted(Comparator.comparingLong(Origin::nanos))
                .collect(Collectors.toList());
    }

    /** The warning that the instance of these was closed before them. */
    static String warning(String path, List<Origin> left) {
        StringBuilder text = new StringBuilder();
        text.append("The database (org.lavakv.LavaDB) in ").append(path);
        text.append(" was closed with ").append(left.size());
        text.append(left.size() == 1 ? " snapshot" : " snapshots");
        text.append(" of it open, which should have been closed before. Opened:");
        left.stream()
                .limit(DESCRIBED_MAX)
                .forEach(origin -> text.append("\n  a snapshot, ").append(origin));
        if (left.size() > DESCRIBED_MAX) {
            text.append("\n  and ").append(left.size() - DESCRIBED_MAX).append(" later ones");
        }
        return text.append('.').append(Origin.advice(left.get(0).stack())).toString();
    }

    /** To log with the warning: the caller's stack, with theirs suppressed in it; null without. */
    static Throwable stacks(List<Origin> left) {
        if (left.get(0).stack() == null) {
            return null;
        }
        Throwable all = new Throwable("closed here");
        left.stream().limit(DESCRIBED_MAX).forEach(origin -> all.addSuppressed(origin.stack()));
        return all;
    }
}
