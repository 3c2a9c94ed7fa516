package org.opendedup.sar.sdfs.fuse;

import java.util.List;
import org.opendedup.sar.sdfs.fuse.jnr.JnrBinding;
import org.opendedup.sar.sdfs.fuse.kernel.KernelBinding;

/** Finds a {@link FuseBinding} by its name. */
public final class FuseBindings {
    /** The binding that is taken where none is named. */
    public static final String DEFAULT = KernelBinding.NAME;

    private FuseBindings() {}

    public static List<String> names() {
        return List.of(KernelBinding.NAME, JnrBinding.NAME);
    }

    /** @throws IllegalArgumentException if there is none of that name; the message lists those there are */
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
