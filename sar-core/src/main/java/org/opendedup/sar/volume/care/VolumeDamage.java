package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.DamagedFiles;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.volume.care.DamageReport.DamagedRange;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lists the damage of an open volume, and tells about new damage. Safe for use by many threads. */
public final class VolumeDamage {
    private static final Logger log = LoggerFactory.getLogger(VolumeDamage.class);

    private final EngineInUse volume;
    private final MetadataStore metadata;
    private final DamageNews news;

    /** @param hasFiles whether the volume has files; those of a volume of chunks only its client knows */
    VolumeDamage(EngineInUse volume, boolean hasFiles) {
        this.volume = volume;
        metadata = volume.metadata();
        news = hasFiles
                ? new DamageNews(this::list, this::isAny, DamageNews::files, volume.name())
                : new DamageNews(
                        progress -> DamageNews.NOTHING,
                        this::isAny,
                        damage -> "its chunks are healed when their content is written again, in any file, or an SSD"
                                + " with copies is attached; otherwise restore the files that give errors from a"
                                + " backup. sdfscli " + volume.name() + " heal --wait says what is not healed",
                        volume.name());
        volume.damaged().watchedBy(news);
    }

    /** Sets the listener for new damage, and for its end; replaces the previous one. */
    public void listen(NewDamageListener toTell) {
        news.listen(toTell);
    }

    /**
     * Lists the files with damaged bytes. Reads all recipes and all names, while the volume is in use: of a file that
     * changes meanwhile, each page of its recipe is reported in one of the states that it had. Bytes that were written
     * and are not stored yet are not considered.
     *
     * @param progress called for each inode; may end the list with an {@link java.io.InterruptedIOException}
     */
    public DamageReport list(Progress progress) throws IOException {
        DamagePlaces places = places();
        DamagedFiles files = new DamagedFiles(metadata, places.lost(), progress, true);
        return report(places, files.run(), files);
    }

    /**
     * Returns what is damaged: missing packs, and slots of containers. Commits. Scans the counts if more places are
     * damaged than the metadata record, and the container table if a pack is missing.
     */
    public List<Fault> faults() throws IOException {
        return places().faults();
    }

    /** Returns whether chunks with references are damaged, or a pack is missing. Reads nothing from the disk. */
    private boolean isAny() {
        return volume.metadata().totals().stored().damagedChunks() > 0
                || volume.damaged().missingPacks() > 0;
    }

    /** Records all that was found by now, commits, and returns the places. */
    private DamagePlaces places() throws IOException {
        volume.damaged().noteMissingPacks(); // A pack may be back.
        volume.damaged().recordAll();
        try {
            // So that inodes have the present lengths of their files.
            volume.committer().commit();
        } catch (IOException e) {
            log.debug("the list of damage is made without what cannot be committed", e);
        }
        return DamagePlaces.of(volume.metadata(), missingPacks());
    }

    /** Returns the packs that are missing now, with when that was found, in milliseconds since 1970. */
    private SortedMap<Long, Long> missingPacks() throws IOException {
        SortedMap<Long, Long> missing = new TreeMap<>();
        if (volume.damaged().missingPacks() > 0) {
            SortedMap<Long, Long> noted = volume.metadata().damage().missingPacks();
            long now = System.currentTimeMillis();
            volume.containers()
                    .missingPacks()
                    .keySet()
                    .forEach(pack -> missing.put(pack, noted.getOrDefault(pack, now)));
        }
        return missing;
    }

    /** @param all has what is not in {@code found} */
    private static DamageReport report(DamagePlaces places, Map<Integer, List<DamagedFile>> found, DamagedFiles all) {
        SortedMap<Long, List<DamagedRange>> ranges = new TreeMap<>();
        Map<Long, DamagedFile> sums = new TreeMap<>();
        long bytes = 0;
        for (Map.Entry<Integer, List<DamagedFile>> fault : found.entrySet()) {
            for (DamagedFile file : fault.getValue()) {
                List<DamagedRange> ofFile = ranges.computeIfAbsent(file.inode(), none -> new ArrayList<>());
                file.ranges().forEach(range -> ofFile.add(new DamagedRange(range.from(), range.to(), fault.getKey())));
                sums.merge(
                        file.inode(),
                        file,
                        (one, other) -> new DamagedFile(
                                one.inode(),
                                one.paths(),
                                List.of(),
                                one.bytes() + other.bytes(),
                                one.moreRanges() + other.moreRanges()));
                bytes += file.bytes();
            }
        }
        List<FileDamage> files = new ArrayList<>();
        ranges.forEach((inode, ofFile) -> {
            DamagedFile sum = sums.get(inode);
            if (sum != null) {
                ofFile.sort(Comparator.comparingLong(DamagedRange::from));
                files.add(new FileDamage(inode, sum.paths(), ofFile, sum.bytes(), sum.moreRanges()));
            }
        });
        Set<Integer> withFiles = new HashSet<>(found.keySet());
        withFiles.addAll(all.moreOfFindings().keySet());
        return new DamageReport(
                places.faults(),
                files,
                all.more().files(),
                bytes + all.more().bytes(),
                places.faults().size() - withFiles.size());
    }
}
