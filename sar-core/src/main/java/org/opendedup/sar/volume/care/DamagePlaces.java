package org.opendedup.sar.volume.care;

import com.carrotsearch.hppc.LongArrayList;
import com.carrotsearch.hppc.cursors.LongCursor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.opendedup.sar.check.LostChunks;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.volume.care.DamageReport.Fault;

/**
 * What is damaged on an open volume at one moment: the places that the metadata record, and the chunks in them. Scans
 * the counts only if there are more places than are recorded, and the container table only if a pack is missing.
 */
final class DamagePlaces {
    private static final int AT_ONCE = 10_000;

    private static final int NO_FRAME = DamageNote.NO_FRAME;

    private final MetadataStore metadata;
    private final List<Fault> faults = new ArrayList<>();
    private final LostChunks lost = new LostChunks();

    private DamagePlaces(MetadataStore metadata) {
        this.metadata = metadata;
    }

    /** @param missing the packs that are missing now, with when each was found, in milliseconds since 1970 */
    static DamagePlaces of(MetadataStore metadata, SortedMap<Long, Long> missing) throws IOException {
        DamagePlaces places = new DamagePlaces(metadata);
        if (!missing.isEmpty()) {
            places.addPacks(missing);
        }
        for (DamagedPlace place : metadata.damage().places()) {
            BitSet damaged = metadata.counts().damaged(place.container());
            damaged.clear(0, place.firstSlot());
            damaged.clear(place.endSlot(), Math.max(place.endSlot(), damaged.length()));
            if (!damaged.isEmpty()) {
                places.addPlace(place, damaged);
            }
        }
        if (metadata.damage().unrecorded() > 0) {
            places.addUnrecorded();
        }
        return places;
    }

    private void addPlace(DamagedPlace place, BitSet damaged) {
        lost.addSlots(faults.size(), place.container(), damaged);
        faults.add(new Fault("", place.container(), place.firstSlot(), place.endSlot(), place.note()));
    }

    private void addPacks(SortedMap<Long, Long> missing) throws IOException {
        Map<Long, Integer> numbers = new HashMap<>();
        missing.forEach((pack, foundMs) -> {
            numbers.put(pack, faults.size());
            DamageNote note = new DamageNote(NO_FRAME, How.MOUNT, foundMs, "the pack is missing");
            faults.add(new Fault(PackFormat.fileName(pack), 0, 0, 0, note));
        });
        metadata.containers().forEachFrom(0, entry -> {
            Integer number = numbers.get(entry.stored().pack());
            if (number != null) {
                lost.addContainer(number, entry.container());
            }
            return true;
        });
    }

    private void addUnrecorded() throws IOException {
        int number = faults.size();
        boolean any = false;
        LongArrayList some = metadata.counts().committed(0, AT_ONCE);
        while (!some.isEmpty()) {
            for (LongCursor container : some) {
                BitSet damaged = metadata.counts().damaged(container.value);
                if (!damaged.isEmpty()) {
                    // A slot that a recorded place has keeps that one.
                    lost.addSlots(number, container.value, damaged);
                    any = true;
                }
            }
            some = metadata.counts().committed(some.get(some.size() - 1) + 1, AT_ONCE);
        }
        if (any) {
            DamageNote note = new DamageNote(NO_FRAME, How.OTHER, 0, "more places are damaged than are recorded");
            faults.add(new Fault("", 0, 0, 0, note));
        }
    }

    /** Returns the faults; the number of one is its place in this list. */
    List<Fault> faults() {
        return faults;
    }

    /** Returns the damaged chunks with the numbers of their faults. */
    LostChunks lost() {
        return lost;
    }
}
