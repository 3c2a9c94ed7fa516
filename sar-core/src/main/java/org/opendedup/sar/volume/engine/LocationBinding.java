package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.metadata.LocationRecords;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.Location;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the data locations that were found with those that the metadata know (docs/adr/0109). A volume without one
 * of its locations would take the packs there for lost.
 */
final class LocationBinding {
    private static final Logger log = LoggerFactory.getLogger(LocationBinding.class);

    private LocationBinding() {}

    /**
     * Checks that each location that the metadata know was found. One that they do not know was added while the volume
     * was not mounted, or when the power failed: it gets its record.
     *
     * @return those of which the power failed after they were left; they are not used any more
     * @throws IOException if one was not found; names it
     */
    static List<Location> bind(LocationRecords records, DataLocations data, boolean readOnly) throws IOException {
        List<DataLocation> known = records.all();
        data.requireAll(known);
        Map<Long, DataLocation> byNumber = new HashMap<>();
        known.forEach(location -> byNumber.put(location.number(), location));
        List<Location> left = new ArrayList<>();
        for (Location location : data.locations()) {
            DataLocation record = byNumber.get(location.number());
            if (record != null && record.state() == DataLocation.State.LEFT) {
                data.remove(location);
                left.add(location);
            } else if (record != null) {
                location.setLeaving(record.state() == DataLocation.State.LEAVING);
            }
        }
        if (readOnly) {
            return left;
        }
        for (DataLocation found : data.records()) {
            DataLocation before = byNumber.get(found.number());
            if (!found.equals(before)) {
                log.info(
                        "{} is a data location of the volume{}",
                        found.path(),
                        before == null ? " from now on" : "; it was in " + before.path());
                records.put(found);
            }
        }
        return left;
    }
}
