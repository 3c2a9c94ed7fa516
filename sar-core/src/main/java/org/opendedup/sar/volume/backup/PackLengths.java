package org.opendedup.sar.volume.backup;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.ChunkLengths;

/** Tells the lengths of chunks from the directories of their containers. Keeps in memory those that were asked for. */
final class PackLengths implements ChunkLengths {
    private final Directory data;
    private final Map<Long, List<FoundContainer>> found = new HashMap<>();

    PackLengths(Directory data) {
        this.data = data;
    }

    @Override
    public void prepare(Set<Long> containers) throws IOException {
        if (containers.isEmpty()) {
            return;
        }
        for (long pack : PackReader.packs(data)) {
            try (PackReader reader = PackReader.open(data, pack)) {
                reader.forEach(offset -> 0L, container -> {
                    if (containers.contains(container.container())) {
                        found.computeIfAbsent(container.container(), id -> new ArrayList<>())
                                .add(container);
                    }
                });
            }
        }
    }

    @Override
    public int of(long container, int slot, int fingerprintPrefix) {
        for (FoundContainer place : found.getOrDefault(container, List.of())) {
            if (place.length(slot) > 0 && place.fingerprintPrefix(slot) == fingerprintPrefix) {
                return place.length(slot);
            }
        }
        return 0;
    }
}
