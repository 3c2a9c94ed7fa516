package org.opendedup.sar.metadata.versions;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;

/** The families whose records snapshots have. */
public final class Kinds {
    private static final Map<Family, Kind> KINDS = new EnumMap<>(Map.of(
            Family.INODE, Kind.INODE,
            Family.ENTRY, Kind.ENTRY,
            Family.XATTR, Kind.XATTR,
            Family.RECIPE, Kind.RECIPE));

    private Kinds() {}

    /** Returns the kind of a family's versions; null if snapshots do not have its records. */
    public static @Nullable Kind of(Family family) {
        return KINDS.get(family);
    }
}
