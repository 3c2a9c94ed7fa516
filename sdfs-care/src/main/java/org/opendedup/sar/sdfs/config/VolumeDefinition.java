package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.IndexSettings;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The definition of a volume, as in its XML file: the values of its options, and what they mean for the engine. The
 * constructor checks it, whatever its source.
 *
 * @param values the values of all options that the volume file has
 */
public record VolumeDefinition(OptionValues values) {
    private static final String SET = "set --";

    /** The options that {@code sdfscli VOLUME set} changes, by their names for it, without dashes. */
    public static final Map<String, VolumeOption<?>> SETTABLE = settable();

    /** @throws IllegalArgumentException if a value is missing or not allowed; the message names what is allowed */
    public VolumeDefinition(OptionValues values) {
        this.values = values.stored();
        Compression compression = config().compression();
        check(
                compression.codec() != Compression.Codec.ZSTD || compression.level() > 0,
                "the zstd level is 0; it must be from 1 to " + RecompressLevel.MAX);
        checkPaths(basePath(), stores());
        recompress().checkAgainst(compression);
        checkRaw(raw(), sar().ssdLocation());
        checkStore();
        var unused = List.of(restore(), backups());
    }

    private static Map<String, VolumeOption<?>> settable() {
        var settable = new LinkedHashMap<String, VolumeOption<?>>();
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (option.changedBy().startsWith(SET)) {
                settable.put(option.changedBy().substring(SET.length()), option);
            }
        }
        return Collections.unmodifiableMap(settable);
    }

    private OptionalLong optional(VolumeOption<Long> option) {
        return values.find(option).map(OptionalLong::of).orElse(OptionalLong.empty());
    }

    /** Returns settings of the engine; {@link #engineConfig} has all of them. */
    public VolumeConfig config() {
        RemoteSettings store = store();
        return store == null ? localConfig() : localConfig().in(store);
    }

    private VolumeConfig localConfig() {
        return new VolumeConfig(
                        values.get(VolumeOptions.NAME),
                        values.get(VolumeOptions.CAPACITY),
                        values.get(VolumeOptions.MAXIMUM_FULL),
                        new VolumeConfig.Locations(
                                values.get(VolumeOptions.DATA_LOCATION),
                                values.get(VolumeOptions.METADATA_LOCATION),
                                values.get(VolumeOptions.INDEX_LOCATION)),
                        values.get(VolumeOptions.HASH_TYPE),
                        new Compression(
                                values.get(VolumeOptions.CODEC),
                                values.get(VolumeOptions.CODEC_LEVEL),
                                Math.toIntExact(values.get(VolumeOptions.FRAME_SIZE))),
                        Math.toIntExact(values.get(VolumeOptions.PAGE_SIZE)),
                        values.get(VolumeOptions.MEMORY_BUDGET),
                        values.get(VolumeOptions.WRITE_THREADS),
                        new VolumeConfig.RootDirectory(
                                values.get(VolumeOptions.FOLDER_MODE),
                                values.get(VolumeOptions.OWNER),
                                values.get(VolumeOptions.GROUP)))
                .withFurtherData(furtherLocations())
                .withIndexSettings(new IndexSettings(
                        values.find(VolumeOptions.INDEX_SSD_CAPACITY).orElse(0L),
                        values.find(VolumeOptions.INDEX_PARAMETERS).orElse(IndexParameters.NONE)));
    }

    /** Returns how the volume lies in an object store; null: it lies in its folders only. */
    public @Nullable RemoteSettings store() {
        return values.find(VolumeOptions.OBJECT_STORE)
                .map(address -> new RemoteSettings(
                        address,
                        values.find(VolumeOptions.DURABILITY).orElse(Promise.LOCAL),
                        values.find(VolumeOptions.CACHE_SIZE).orElse(LocalCache.LEAST_BYTES),
                        values.find(VolumeOptions.STORE_PRICES).orElse(StorePrices.NONE)))
                .orElse(null);
    }

    /** Returns the data locations besides the first one. */
    public List<Path> furtherLocations() {
        return values.find(VolumeOptions.FURTHER_LOCATIONS).orElse(List.of());
    }

    /**
     * Returns this definition with one data location more.
     *
     * @throws IllegalArgumentException if it is one already, or lies in another location; the message says so
     */
    public VolumeDefinition withFurtherLocation(Path folder) {
        check(!folder.toString().contains(":"), "the name of a further data location has no colon: " + folder);
        List<Path> more = new ArrayList<>(furtherLocations());
        more.add(folder);
        return with(VolumeOptions.FURTHER_LOCATIONS, more);
    }

    /** Returns this definition without one of the further data locations. */
    public VolumeDefinition withoutFurtherLocation(Path folder) {
        List<Path> rest =
                furtherLocations().stream().filter(each -> !each.equals(folder)).toList();
        return with(VolumeOptions.FURTHER_LOCATIONS, rest.isEmpty() ? null : rest);
    }

    /** Returns the folder of everything that has no location of its own; also holds {@code log} and {@code run}. */
    public Path basePath() {
        return values.get(VolumeOptions.BASE_PATH);
    }

    /** Returns whether the volume has a key header, and what it stores is encrypted. */
    public boolean isEncrypted() {
        return values.find(VolumeOptions.ENCRYPTED).orElse(false);
    }

    /** Returns when garbage is collected; see {@link Schedule}. */
    public String garbageCollectionSchedule() {
        return values.get(VolumeOptions.COLLECTIONS);
    }

    /** Returns when a scrub starts; see {@link Schedule}. */
    public String scrubSchedule() {
        return values.get(VolumeOptions.SCRUBS);
    }

    /** Returns when a snapshot is made; see {@link Schedule}. */
    public String snapshotSchedule() {
        return values.get(VolumeOptions.SNAPSHOTS);
    }

    /** Returns which snapshots of the schedule are kept. */
    public KeepRules snapshotKeep() {
        return values.get(VolumeOptions.SNAPSHOTS_KEPT);
    }

    /** Returns how hard collections compress containers anew. */
    public RecompressLevel recompress() {
        return values.get(VolumeOptions.RECOMPRESS);
    }

    /** Returns the settings of selective promotion to an SSD. */
    public SarSettings sar() {
        return SarSettings.of(values);
    }

    /** Returns the settings of the restore cache, for sequential reads. */
    public RestoreSettings restore() {
        return new RestoreSettings(
                values.get(VolumeOptions.RESTORE_CACHE),
                optional(VolumeOptions.RESTORE_CACHE_SIZE),
                optional(VolumeOptions.RESTORE_WINDOW),
                values.get(VolumeOptions.RESTORE_LOG_SHARE),
                values.get(VolumeOptions.RESTORE_DISK));
    }

    /** Returns the settings of automatic backups of the metadata. */
    public BackupSettings backups() {
        return BackupSettings.of(values.get(VolumeOptions.BACKUP_INTERVAL), values.get(VolumeOptions.BACKUPS_KEPT));
    }

    /** Returns the settings of raw files on the fast tier, whose folder is the SSD location. */
    public RawSettings raw() {
        return new RawSettings(
                values.get(VolumeOptions.TIER_MODE),
                values.get(VolumeOptions.TIER_CAPACITY),
                values.get(VolumeOptions.TIER_HIGH),
                values.get(VolumeOptions.TIER_LOW),
                values.get(VolumeOptions.TIER_JOURNAL),
                values.get(VolumeOptions.TIER_POLICY));
    }

    /** Returns the settings with which the engine makes, opens and serves the volume. */
    public VolumeConfig engineConfig() {
        VolumeConfig engine = config().withRestore(restore()).withIndex(values.get(VolumeOptions.INDEX));
        SarSettings sar = sar();
        // The location before the raw files, which need it.
        return sar.ssdLocation() == null
                ? engine
                : engine.withSsd(sar.ssdLocation(), sar.hot()).withRaw(raw());
    }

    /** Returns the folders that hold only the volume's own files, by their names in messages. */
    public Map<String, Path> stores() {
        VolumeConfig.Locations locations = config().locations();
        Path ssd = sar().ssdLocation();
        var places = new LinkedHashMap<String, Path>();
        places.put("data location", locations.data());
        for (Path further : locations.furtherData()) {
            String name = "further data location";
            check(
                    places.putIfAbsent(places.size() == 1 ? name : name + " " + places.size(), further) == null
                            && locations.allData().stream()
                                            .filter(further::equals)
                                            .count()
                                    == 1,
                    "the data location " + further + " is named twice");
        }
        places.put("metadata location", locations.metadata());
        places.put("hash db location", locations.hashDb());
        if (ssd != null) {
            places.put("SSD location", ssd);
        }
        return places;
    }

    /**
     * Returns this definition with another value of an option.
     *
     * @throws IllegalArgumentException if it is not allowed; the message names what is allowed
     */
    public <T> VolumeDefinition with(VolumeOption<T> option, @Nullable T value) {
        return new VolumeDefinition(values.with(option, value));
    }

    /**
     * Returns this definition with other values of options that {@code sdfscli VOLUME set} changes.
     *
     * @param changes new values by the name for the command without dashes; numbers of any integer type
     * @throws IllegalArgumentException if a name or value is not allowed; the message names what is allowed
     */
    public VolumeDefinition withChanges(Map<String, ?> changes) {
        OptionValues changed = values;
        for (Map.Entry<String, ?> change : changes.entrySet()) {
            VolumeOption<?> option = SETTABLE.get(change.getKey());
            if (option == null) {
                throw new IllegalArgumentException(
                        "'" + change.getKey() + "' cannot be set; there are " + SETTABLE.keySet());
            }
            changed = changed.withText(option, String.valueOf(change.getValue()));
        }
        return new VolumeDefinition(changed);
    }

    /** Returns this definition with other settings of promotion. */
    public VolumeDefinition withSar(SarSettings changed) {
        return new VolumeDefinition(changed.into(values));
    }

    /**
     * Returns this definition with other folders.
     *
     * @param moved returns the place of a folder
     */
    public VolumeDefinition withPlaces(UnaryOperator<Path> moved) {
        Path ssd = sar().ssdLocation();
        VolumeConfig.Locations locations = config().locations();
        List<Path> further = locations.furtherData().stream().map(moved).toList();
        return new VolumeDefinition(values.with(VolumeOptions.FURTHER_LOCATIONS, further.isEmpty() ? null : further)
                .with(VolumeOptions.BASE_PATH, moved.apply(basePath()))
                .with(VolumeOptions.DATA_LOCATION, moved.apply(locations.data()))
                .with(VolumeOptions.METADATA_LOCATION, moved.apply(locations.metadata()))
                .with(VolumeOptions.INDEX_LOCATION, moved.apply(locations.hashDb()))
                .with(VolumeOptions.SSD_LOCATION, ssd == null ? null : moved.apply(ssd)));
    }

    /**
     * Checks the paths. If two locations were one folder, or one lay inside the other, each would treat the other's
     * files as its own.
     */
    private static void checkPaths(Path basePath, Map<String, Path> places) {
        checkPath("base path", basePath);
        places.forEach(VolumeDefinition::checkPath);
        places.forEach((name, place) -> {
            check(
                    !basePath.startsWith(place),
                    "the " + name + " " + place + " must not hold the base path " + basePath);
            places.forEach((otherName, other) -> check(
                    place == other || !place.startsWith(other),
                    "the " + name + " " + place + " must not lie in the " + otherName + " " + other));
        });
    }

    private static void checkPath(String name, Path path) {
        check(
                path.isAbsolute() && path.toString().chars().noneMatch(VolumeDefinition::isNoText),
                "the " + name + " '" + path + "' must be an absolute path, in UTF-8 and without control characters");
    }

    /**
     * Returns whether a character is not allowed in a path. Java replaces bytes that are not text with U+FFFD, and the
     * resulting name is that of another folder.
     */
    private static boolean isNoText(int character) {
        return Character.isISOControl(character) || character == '\uFFFD';
    }

    /** Refuses what works in folders only. */
    private void checkStore() {
        boolean isStored = values.isSet(VolumeOptions.OBJECT_STORE);
        for (VolumeOption<?> option :
                List.of(VolumeOptions.DURABILITY, VolumeOptions.CACHE_SIZE, VolumeOptions.STORE_PRICES)) {
            check(
                    isStored || !values.isSet(option),
                    (option.name().isEmpty() ? VolumeOptions.LOCAL_CACHE : option)
                            + " is for a volume in an object store: --object-store=ADDRESS");
        }
        if (isStored) {
            StoreAddress.folder(values.get(VolumeOptions.OBJECT_STORE))
                    .ifPresent(store -> stores().forEach((name, place) -> check(
                            !place.startsWith(store) && !store.startsWith(place),
                            "the " + name + " " + place + " and the object store " + store
                                    + " must not lie in each other")));
            check(
                    furtherLocations().isEmpty(),
                    VolumeOptions.FURTHER_LOCATIONS + " is not for a volume in an object store, which has no limit of"
                            + " space");
            check(
                    backups().isOff(),
                    VolumeOptions.BACKUP_INTERVAL + " is not for a volume in an object store: the store has the"
                            + " metadata, as they were at each moment");
            check(
                    !raw().isEnabled(),
                    VolumeOptions.TIER_MODE + "=tddfs is not for a volume in an object store: raw files lie on the SSD"
                            + " of one machine only");
        }
    }

    private static void checkRaw(RawSettings raw, @Nullable Path ssd) {
        check(
                raw.isEnabled() || raw.placement() == Placement.SAR,
                "the mode tddfs needs a capacity of the fast tier above 0");
        check(!raw.isEnabled() || ssd != null, "a fast tier for new files needs an SSD location");
    }
}
