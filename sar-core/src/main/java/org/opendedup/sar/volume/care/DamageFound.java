package org.opendedup.sar.volume.care;

import java.util.List;
import org.opendedup.sar.metadata.record.DamageNote;

/**
 * New damage.
 *
 * @param place what is damaged, for people, for example {@code frame 3 of container 7}
 * @param container the container; 0 for a missing pack
 * @param paths names of files with bytes in it, at most {@value #MAX_PATHS}
 * @param morePaths number of further names
 */
public record DamageFound(String place, long container, DamageNote note, List<String> paths, long morePaths) {
    public static final int MAX_PATHS = 10;

    public DamageFound {
        paths = List.copyOf(paths);
    }
}
