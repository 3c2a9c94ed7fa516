package org.opendedup.sar.sdfs.cli.daemon;

import java.util.List;
import org.opendedup.sar.sdfs.fuse.FuseBinding;
import org.opendedup.sar.sdfs.fuse.jnr.JnrBinding;
import org.opendedup.sar.sdfs.fuse.kernel.KernelBinding;

/** Finds a {@link FuseBinding} by its name. */
public final class FuseBindings {
    /** The binding that is used if none is named. */
    public static final String DEFAULT = KernelBinding.NAME;

    private FuseBindings() {}

    public static List<String> names() {
        return List.of(KernelBinding.NAME, JnrBinding.NAME);
    }

    /** @throws IllegalArgumentException if there is none with that name; the message lists the names */
    public static FuseBinding named(String name) {
        return switch (name) {
            case KernelBinding.NAME -> new KernelBinding();
            case JnrBinding.NAME -> new JnrBinding();
            default ->
                throw new IllegalArgumentException(
                        "no FUSE binding '" + name + "'; there is: " + String.join(", ", names()));
        };
    }
}
