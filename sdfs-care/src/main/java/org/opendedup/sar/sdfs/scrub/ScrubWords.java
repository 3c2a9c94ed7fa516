package org.opendedup.sar.sdfs.scrub;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.metadata.record.ScrubTotals;

/** What a scrub has verified and found, in words. */
public final class ScrubWords {
    private ScrubWords() {}

    /** Returns what it has verified. */
    public static String verified(ScrubTotals totals) {
        ScrubTotals.Ssd ssd = totals.ssd();
        ScrubTotals.Index index = totals.index();
        return ByteSize.rounded(totals.bytes()) + " in " + totals.containers() + " containers, " + totals.chunks()
                + " chunks"
                + (ssd.copies() == 0
                        ? ""
                        : "; " + ByteSize.rounded(ssd.bytes()) + " in " + ssd.copies() + " copies on the SSD")
                + (index.entries() + index.chunks() == 0
                        ? ""
                        : "; samples of the index: " + index.entries() + " entries, " + index.chunks() + " chunks");
    }

    /** Returns what it found that affects files, or may do so. */
    public static String found(ScrubTotals totals) {
        if (totals.isClean()) {
            return "nothing";
        }
        return totals.damagedFrames() + " damaged frames, " + totals.damagedContainers()
                + " containers whose directories are damaged or missing, " + totals.contradictions()
                + " contradictions to the metadata"
                + (totals.references().wrong() + totals.references().defects() == 0
                        ? ""
                        : ", " + totals.references().wrong() + " chunks that files refer to as other content, "
                                + totals.references().defects() + " other defects of the metadata")
                + (totals.index().wrong() == 0
                        ? ""
                        : ", " + totals.index().wrong() + " entries of the index that named other content");
    }

    /** Returns what else is worth knowing: it costs no byte of a file. */
    public static List<String> notes(ScrubTotals totals) {
        var notes = new ArrayList<String>();
        if (totals.references().passedOver()) {
            notes.add("not all references of files could be compared: the log has the reason");
        }
        ScrubTotals.Ssd ssd = totals.ssd();
        if (ssd.passedOver()) {
            notes.add("the copies on the SSD are not verified to the end: it was not in use");
        }
        if (ssd.wrong() > 0) {
            notes.add(ssd.wrong() + " wrong copies on the SSD were dropped: their chunks are read from the containers."
                    + " After a power failure this is expected, otherwise do not trust the SSD");
        }
        if (ssd.leadingNowhere() > 0) {
            notes.add(ssd.leadingNowhere() + " entries of the Map table led nowhere, and were removed");
        }
        ScrubTotals.Index index = totals.index();
        if (index.passedOver()) {
            notes.add("the samples of the fingerprint index are not complete: it was not in use");
        }
        if (index.stale() > 0) {
            notes.add(index.stale() + " entries of the index named no stored chunk, and were removed");
        }
        if (index.notIndexed() > 0) {
            notes.add(index.notIndexed() + " of " + index.chunks()
                    + " stored chunks are not in the index: their content is stored again when it is written again");
        }
        return notes;
    }
}
