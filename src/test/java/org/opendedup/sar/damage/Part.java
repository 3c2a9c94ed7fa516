package org.opendedup.sar.damage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.sar.container.PackedContainer;

/** The kinds of files of a volume, and of the parts of a pack. */
enum Part {
    IDENTITY("data/volume.id"),
    PACK_HEADER("data/.*\\.pack"),
    CONTAINER_HEADER("data/.*\\.pack"),
    FRAMES("data/.*\\.pack"),
    DIRECTORY("data/.*\\.pack"),
    FOOTER("data/.*\\.pack"),
    METADATA_TABLE("metadata/.*\\.sst"),
    METADATA_LOG("metadata/.*\\.log"),
    METADATA_MANIFEST("metadata/MANIFEST-.*"),
    METADATA_CURRENT("metadata/CURRENT"),
    METADATA_OPTIONS("metadata/OPTIONS-.*"),
    METADATA_IDENTITY("metadata/IDENTITY"),
    METADATA_ACKNOWLEDGED("metadata/ACKNOWLEDGED"),
    INDEX_TABLE("hashdb/.*\\.sst"),
    INDEX_MANIFEST("hashdb/MANIFEST-.*"),
    INDEX_CURRENT("hashdb/CURRENT"),
    INDEX_OPTIONS("hashdb/OPTIONS-.*"),
    SSD_IDENTITY("ssd/sar.id"),
    SSD_SEGMENT("ssd/segments/.*"),
    SSD_MAP("ssd/map/(.*\\.sst|.*\\.log|MANIFEST-.*|CURRENT|OPTIONS-.*)");

    private static final int PACK_HEADER_BYTES = 20;
    private static final int HEADER_BYTES = 32;
    private static final int FOOTER_BYTES = 48;

    private final String paths;

    Part(String paths) {
        this.paths = paths;
    }

    /**
     * A range of a file.
     *
     * @param path of the file in the volume's folder
     */
    record Range(String path, long from, long length) {}

    /** Damage to it never costs more than bytes that can be written again. */
    boolean isHealedByWriting() {
        return switch (this) {
            case PACK_HEADER, CONTAINER_HEADER, FRAMES, DIRECTORY, FOOTER -> true;
            default -> isReplaceable();
        };
    }

    /** The volume must not notice damage to it, except by doing more work. */
    boolean isReplaceable() {
        return name().startsWith("INDEX") || name().startsWith("SSD");
    }

    /** All ranges of this kind that are not empty. */
    List<Range> rangesIn(Path volume) throws IOException {
        List<Range> ranges = new ArrayList<>();
        for (var file : SampleVolume.filesOf(volume).entrySet()) {
            if (file.getKey().matches(paths)) {
                for (Range range : rangesOf(file.getKey(), file.getValue())) {
                    if (range.length > 0) {
                        ranges.add(range);
                    }
                }
            }
        }
        return ranges;
    }

    private List<Range> rangesOf(String path, Path file) throws IOException {
        return switch (this) {
            case PACK_HEADER -> List.of(new Range(path, 0, PACK_HEADER_BYTES));
            case CONTAINER_HEADER, FRAMES, DIRECTORY, FOOTER -> {
                List<Range> ranges = new ArrayList<>();
                for (PackedContainer container : PackedContainer.of(file)) {
                    int directory = container.directoryOffset();
                    int footer = container.bytes() - FOOTER_BYTES;
                    ranges.add(
                            switch (this) {
                                case CONTAINER_HEADER -> new Range(path, container.offset(), HEADER_BYTES);
                                case FRAMES ->
                                    new Range(path, container.offset() + HEADER_BYTES, directory - HEADER_BYTES);
                                case DIRECTORY -> new Range(path, container.offset() + directory, footer - directory);
                                default -> new Range(path, container.offset() + footer, FOOTER_BYTES);
                            });
                }
                yield ranges;
            }
            default -> List.of(new Range(path, 0, Files.size(file)));
        };
    }

    static Range any(List<Range> ranges, SplittableRandom random) {
        return ranges.get(random.nextInt(ranges.size()));
    }
}
