package org.opendedup.sar.sdfs.fuse;

import org.jspecify.annotations.Nullable;

/**
 * Whether the kernel reads and writes the files of {@link FuseFileSystem#backing} itself.
 *
 * @param obstacle why it does not; null if it does
 */
public record Passthrough(@Nullable String obstacle) {
    public static final Passthrough ON = new Passthrough(null);

    public static final Passthrough NOT_WANTED = off("the mount option passthrough is not given");

    public static Passthrough off(String obstacle) {
        return new Passthrough(obstacle);
    }

    public boolean isOn() {
        return obstacle == null;
    }

    @Override
    public String toString() {
        return obstacle == null ? "on" : "off (" + obstacle + ")";
    }
}
