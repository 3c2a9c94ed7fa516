package org.opendedup.sar.sdfs.jmx;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.NotificationEmitter;
import javax.management.StandardEmitterMBean;
import org.jspecify.annotations.Nullable;

/** An MXBean that shows its {@link Description}, {@link Unit} and {@link Name} annotations to JMX consoles. */
final class DescribedBean extends StandardEmitterMBean {
    private final Class<?> type;

    /** @param type the MXBean interface, which {@code bean} implements */
    <T> DescribedBean(T bean, Class<T> type, NotificationEmitter emitter) {
        super(bean, type, true, emitter);
        this.type = type;
    }

    @Override
    protected @Nullable String getDescription(MBeanInfo info) {
        return described(type, super.getDescription(info));
    }

    @Override
    protected @Nullable String getDescription(MBeanAttributeInfo info) {
        Method getter = method((info.isIs() ? "is" : "get") + info.getName(), 0);
        return withUnit(getter, described(getter, super.getDescription(info)));
    }

    @Override
    protected @Nullable String getDescription(MBeanOperationInfo info) {
        Method operation = method(info.getName(), info.getSignature().length);
        return withUnit(operation, described(operation, super.getDescription(info)));
    }

    @Override
    protected @Nullable String getDescription(MBeanOperationInfo info, MBeanParameterInfo parameter, int sequence) {
        Parameter declared = method(info.getName(), info.getSignature().length).getParameters()[sequence];
        return withUnit(declared, described(declared, super.getDescription(info, parameter, sequence)));
    }

    @Override
    protected @Nullable String getParameterName(MBeanOperationInfo info, MBeanParameterInfo parameter, int sequence) {
        Name name = method(info.getName(), info.getSignature().length)
                .getParameters()[sequence]
                .getAnnotation(Name.class);
        return name == null ? super.getParameterName(info, parameter, sequence) : name.value();
    }

    @Override
    protected int getImpact(MBeanOperationInfo info) {
        return MBeanOperationInfo.ACTION;
    }

    private static @Nullable String described(AnnotatedElement element, @Nullable String otherwise) {
        Description description = element.getAnnotation(Description.class);
        return description == null ? otherwise : description.value();
    }

    /** Appends the unit to the text, because most consoles show no descriptors. */
    private static @Nullable String withUnit(AnnotatedElement element, @Nullable String text) {
        Unit unit = element.getAnnotation(Unit.class);
        return unit == null ? text : text + " (" + unit.value() + ")";
    }

    private Method method(String name, int parameters) {
        return Arrays.stream(type.getMethods())
                .filter(method -> method.getName().equals(name) && method.getParameterCount() == parameters)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(type + " has no method " + name));
    }
}
