package org.opendedup.sar.metadata.counts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Keys;

/**
 * The places from which damaged containers were healed, or recovered after a crash, and that are not given back yet:
 * what could not be read there may be readable another time, or a missing pack may come back. A place is recorded in
 * the commit in which its container moves, at most as long as a slot of the container is marked as damaged. Safe for
 * use by many threads.
 */
public final class FormerPlaces {
    private static final byte[] PLACE = Keys.of("former ");

    private final Overlay overlay;

    public FormerPlaces(Overlay overlay) {
        this.overlay = overlay;
    }

    /** Records a place, as a change like any other. */
    public void add(long container, StoredContainer place) {
        overlay.put(
                Family.SYSTEM,
                key(container, place),
                ContainerEntry.encode(new ContainerEntry(container, place, 0, 0)));
    }

    /** Removes the record of a place; a change like any other. */
    public void remove(long container, StoredContainer place) {
        overlay.remove(Family.SYSTEM, key(container, place));
    }

    /** Returns the recorded places of a container, the oldest first. */
    public List<StoredContainer> of(long container) throws IOException {
        List<StoredContainer> found = new ArrayList<>();
        scan(key(container, 0), key(container + 1, 0), (id, place) -> found.add(place));
        return found;
    }

    /** Receives recorded places. */
    @FunctionalInterface
    public interface Visitor {
        void visit(long container, StoredContainer place) throws IOException;
    }

    /** Visits all recorded places, in ascending order of their containers and generations. */
    public void forEach(Visitor visitor) throws IOException {
        scan(key(0, 0), key(Long.MAX_VALUE, 0), visitor);
    }

    private void scan(byte[] from, byte[] to, Visitor visitor) throws IOException {
        try (Cursor cursor = overlay.scan(Family.SYSTEM, from, to)) {
            while (cursor.next()) {
                long container = Keys.longAt(cursor.key(), PLACE.length);
                visitor.visit(
                        container,
                        ContainerEntry.decode(container, cursor.value()).stored());
            }
        }
    }

    /** A container that a crash left open was sealed as the same writing elsewhere: it comes before all others. */
    private static byte[] key(long container, StoredContainer place) {
        boolean isOpen = place.state() == StoredContainer.State.OPEN;
        return key(container, isOpen ? 0 : place.writing().generation());
    }

    private static byte[] key(long container, long generation) {
        return Keys.join(PLACE, Keys.of(container, generation));
    }
}
