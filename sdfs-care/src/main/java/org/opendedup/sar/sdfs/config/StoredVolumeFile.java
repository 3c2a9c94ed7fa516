package org.opendedup.sar.sdfs.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.remote.RemoteMetadata;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.objects.VersionChangedException;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;

/**
 * The volume file that lies in the object store of a volume. A machine that has none makes its own of it; one that has
 * its own takes from it what is the same on all machines. It is a valid volume file, with the default folders.
 */
public final class StoredVolumeFile implements Closeable {
    /** Name of the object. */
    public static final String NAME = "volume.xml";

    /**
     * Time in which a store must answer. A request that then runs still ends by the time limit of the store itself, so
     * a command says within a minute that a store is gone.
     */
    private static final Limits LIMITS = Limits.DEFAULT.withPatience(Duration.ofSeconds(20));

    /** What a volume is made with: no change of the stored file is believed here. */
    private static final List<VolumeOption<?>> FIXED =
            List.of(VolumeOptions.NAME, VolumeOptions.ENCRYPTED, VolumeOptions.HASH_TYPE, VolumeOptions.PAGE_SIZE);

    private final ObjectStore store;
    private final ReplaceableObjects objects;

    private StoredVolumeFile(ObjectStore store) throws IOException {
        this.store = store;
        objects = store.replaceable()
                .orElseThrow(() -> new IOException(store + " cannot replace objects under a condition"));
    }

    /**
     * Opens the store of an address.
     *
     * @throws IOException also if it is no address, or the program has no library for it
     */
    public static StoredVolumeFile in(String address) throws IOException {
        ObjectStore store;
        try {
            store = ReliableObjectStore.open(StoreAddress.checked(address), LIMITS);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        try {
            return new StoredVolumeFile(store);
        } catch (IOException e) {
            store.close();
            throw e;
        }
    }

    /**
     * Checks that a new volume can be made in the store: it is empty, and keeps its conditions.
     *
     * @throws IOException if not; the message says what to do
     */
    public void requireUsable() throws IOException {
        ObjectPage first = store.list("", "", 1);
        if (!first.objects().isEmpty()) {
            boolean isVolume = objects.current(NAME).isPresent();
            throw new IOException(
                    store + " is not empty (it has " + first.objects().get(0).name() + "); "
                            + (isVolume
                                    ? "it is a volume; mount it: mount.sdfs ADDRESS MOUNTPOINT"
                                    : "choose another prefix, or delete what is there"));
        }
        ObjectStores.checkConditions(store, "check-" + HexFormat.of().toHexDigits(new SecureRandom().nextLong()));
    }

    /** Makes the file of a new volume. From now on another machine can mount it. */
    public void create(VolumeDefinition definition) throws IOException {
        write(
                null,
                placed(
                        definition,
                        VolumeOptions.defaultFolder(definition.config().name())));
    }

    /**
     * Returns the definition that is stored.
     *
     * @throws NoSuchVolumeException if there is no volume
     */
    public VolumeDefinition read() throws IOException {
        return definition(current());
    }

    /** Returns whether the object is there. */
    public boolean isPresent() throws IOException {
        return found().isPresent();
    }

    /**
     * Returns the definition of this machine with what the other machines have changed since.
     *
     * @throws IOException if the store does not answer, or has another volume
     */
    public VolumeDefinition newest(VolumeDefinition ofMachine) throws IOException {
        return joined(ofMachine, read());
    }

    /**
     * Writes the file anew if it is lost, and the store has the metadata of this volume.
     *
     * @param volume the volume whose data are in the folders of this machine; null: not known
     * @return whether it was written
     */
    public boolean restore(VolumeDefinition definition, @Nullable UUID volume) throws IOException {
        if (found().isPresent()
                || volume == null
                || !RemoteMetadata.volumeIn(store).equals(volume)) {
            return false;
        }
        create(definition);
        return true;
    }

    private ReplaceableObjects.Version current() throws IOException {
        return found().orElseThrow(() -> new NoSuchVolumeException(store, NAME));
    }

    /** Returns the object; empty if it is missing. */
    private Optional<ReplaceableObjects.Version> found() throws IOException {
        try {
            return objects.current(NAME);
        } catch (CorruptionException e) {
            throw new IOException(
                    e.getMessage() + "; bring back an earlier version of the object '" + NAME + "'; or delete it, and"
                            + " mount the volume by its name on the machine that used it last, which writes it anew",
                    e);
        }
    }

    private VolumeDefinition definition(ReplaceableObjects.Version version) throws IOException {
        try {
            return new VolumeFileReader(Path.of(NAME)).read(new String(version.contents(), UTF_8));
        } catch (VolumeFileException e) {
            throw new IOException(store + ": " + e.getMessage(), e);
        }
    }

    private void write(@Nullable String expected, VolumeDefinition definition) throws IOException {
        objects.replace(
                NAME, expected, UUID.randomUUID(), VolumeFile.text(definition).getBytes(UTF_8));
    }

    @Override
    public void close() throws IOException {
        store.close();
    }

    /**
     * Changes a volume. What is the same on all machines is changed in its object store first, if it has one, whatever
     * other machines change at the same time.
     *
     * @param ofMachine the volume as the file of this machine has it
     * @return what the file of this machine has to become
     * @throws IOException if nothing was changed
     */
    public static VolumeDefinition changed(VolumeDefinition ofMachine, UnaryOperator<VolumeDefinition> change)
            throws IOException {
        VolumeDefinition here = change.apply(ofMachine);
        if (ofMachine.store() == null || isSame(joined(here, ofMachine), here)) {
            return here;
        }
        try (StoredVolumeFile stored = in(ofMachine.store().store())) {
            return stored.change(ofMachine, change);
        }
    }

    private VolumeDefinition change(VolumeDefinition ofMachine, UnaryOperator<VolumeDefinition> change)
            throws IOException {
        while (true) {
            ReplaceableObjects.Version version = current();
            VolumeDefinition present = definition(version);
            VolumeDefinition changed = change.apply(joined(ofMachine, present));
            try {
                write(version.version(), joined(present, changed));
                return changed;
            } catch (VersionChangedException e) {
                // Another machine was faster, so it made progress: this is repeated on what it wrote.
                continue;
            }
        }
    }

    private static boolean isSame(VolumeDefinition one, VolumeDefinition other) throws IOException {
        return VolumeFile.text(one).equals(VolumeFile.text(other));
    }

    /**
     * Returns the values that each machine has for itself of one definition, and all others of another.
     *
     * @throws IOException if they are of different volumes
     */
    private static VolumeDefinition joined(VolumeDefinition ofMachine, VolumeDefinition ofAll) throws IOException {
        for (VolumeOption<?> option : FIXED) {
            String here = ofMachine.values().text(option);
            String there = ofAll.values().text(option);
            if (!Objects.equals(here, there)) {
                throw new IOException(
                        "the volume file of '" + ofMachine.config().name() + "' on this machine has "
                                + option + "=" + here + ", and the one in the object store " + there
                                + ": it is another volume, or somebody changed one of them");
            }
        }
        OptionValues joined = ofAll.values();
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (option.isOfMachine() && option.isStored()) {
                joined = joined.withOf(option, ofMachine.values());
            }
        }
        return new VolumeDefinition(joined);
    }

    /**
     * Returns the definition for a machine with other disks: all its folders are the default ones below {@code base}.
     */
    public static VolumeDefinition placed(VolumeDefinition definition, Path base) {
        OptionValues values = definition.values();
        for (VolumeOption<?> option : List.of(
                VolumeOptions.BASE_PATH,
                VolumeOptions.DATA_LOCATION,
                VolumeOptions.METADATA_LOCATION,
                VolumeOptions.INDEX_LOCATION,
                VolumeOptions.INDEX_SSD_CAPACITY,
                VolumeOptions.SSD_LOCATION,
                VolumeOptions.SSD_CAPACITY,
                VolumeOptions.SAR_ENABLED,
                VolumeOptions.CACHE_SIZE)) {
            values = values.withOf(option, OptionValues.NONE);
        }
        return new VolumeDefinition(values.inFolder(base));
    }
}
