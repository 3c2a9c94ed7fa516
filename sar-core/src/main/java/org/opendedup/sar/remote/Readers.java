package org.opendedup.sar.remote;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The machines that read the volume while another one owns it, as the owner sees them. A {@link ReaderRegistration}
 * puts an object with the next number every five minutes. One whose number has not changed for {@link #LIFE}, by the
 * owner's own clock, is dead, and the owner deletes its objects: so no clocks of two machines are compared, and a new
 * owner gives each reader its whole time again. Safe for use by many threads.
 */
final class Readers {
    /** Time after which a reader whose registration did not change is dead. */
    static final Duration LIFE = Duration.ofMinutes(15);

    private static final Logger log = LoggerFactory.getLogger(Readers.class);

    /** The number of a reader, and when it was first seen. */
    private record Seen(long number, long sinceNs) {}

    private final ObjectStore store;
    private final LongSupplier nanoClock;
    /** By the name of the reader. Guarded by this. */
    private final Map<String, Seen> seen = new HashMap<>();

    private volatile int registered;

    Readers(ObjectStore store, LongSupplier nanoClock) {
        this.store = store;
        this.nanoClock = nanoClock;
    }

    /**
     * Asks the store which readers are registered. Ends the registrations of dead ones, which still are in the answer:
     * one may have renewed its own meanwhile, and then is in the next answer as well.
     *
     * @return the newest that is known of each reader, by its name. Has each reader that was registered before the call
     *     and is not dead
     */
    synchronized Map<String, ReaderNames.Parts> look() throws IOException {
        long before = nanoClock.getAsLong();
        Map<String, List<ReaderNames.Parts>> objects = new TreeMap<>();
        for (ObjectPage.Entry entry : store.listAll(ReaderNames.ALL, "")) {
            ReaderNames.Parts parts = ReaderNames.parse(entry.name());
            if (parts != null) {
                objects.computeIfAbsent(parts.reader(), reader -> new ArrayList<>())
                        .add(parts);
            }
        }
        long after = nanoClock.getAsLong();
        seen.keySet().retainAll(objects.keySet());
        Map<String, ReaderNames.Parts> newest = new TreeMap<>();
        List<String> dead = new ArrayList<>();
        for (Map.Entry<String, List<ReaderNames.Parts>> reader : objects.entrySet()) {
            ReaderNames.Parts last = reader.getValue().stream()
                    .max(Comparator.comparingLong(ReaderNames.Parts::number))
                    .orElseThrow();
            newest.put(reader.getKey(), last);
            Seen known = seen.get(reader.getKey());
            if (known == null || known.number() != last.number()) {
                seen.put(reader.getKey(), new Seen(last.number(), after));
            } else if (before - known.sinceNs() >= LIFE.toNanos()) {
                log.info("{} has not said for {} minutes that it reads the volume", last.reader(), LIFE.toMinutes());
                reader.getValue().stream().map(ReaderNames::of).forEach(dead::add);
            }
        }
        registered = newest.size();
        for (int from = 0; from < dead.size(); from += ObjectStore.MOST_NAMES) {
            store.delete(dead.subList(from, Math.min(dead.size(), from + ObjectStore.MOST_NAMES)));
        }
        return newest;
    }

    /** Returns how many readers the last answer had. */
    int registered() {
        return registered;
    }
}
