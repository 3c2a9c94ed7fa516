package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.engine.EngineInUse;

/**
 * Lists the damage of an open volume of chunks, and tells about new damage. Which files it affects only the client
 * knows. Safe for use by many threads.
 */
public final class ChunkDamage {
    private final KnownDamage known;
    private final DamageNews news;

    public ChunkDamage(EngineInUse volume) {
        known = new KnownDamage(volume);
        news = new DamageNews(
                progress -> DamageNews.NOTHING,
                known::isAny,
                damage -> "its chunks are healed when their content is written again, in any file, or an SSD with"
                        + " copies is attached; otherwise restore the files that give errors from a backup. sdfscli "
                        + volume.name() + " heal --wait says what is not healed",
                volume.name());
        volume.damaged().watchedBy(news);
    }

    /** Sets the listener for new damage, and for its end; replaces the previous one. */
    public void listen(NewDamageListener toTell) {
        news.listen(toTell);
    }

    /**
     * Returns what is damaged: missing packs, and slots of containers. Commits. Scans the counts if more places are
     * damaged than the metadata record, and the container table if a pack is missing.
     */
    public List<Fault> list() throws IOException {
        return known.places().faults();
    }
}
